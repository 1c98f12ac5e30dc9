//! Curves as an SVG that reads well on light and on dark pages: no background, and inks that follow the page.

use std::fmt::Write;

use clew_profile::svg_text;

use super::super::columns::figure;
use super::curves::{Axes, Curve};
use super::scale::Scale;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 460.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 240.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 56.0;
/// Colours of Okabe and Ito, told apart by nearly all eyes; then the same with broken lines.
const INKS: [&str; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#7f7f7f",
];
const STYLE: &str = "\
text{font:13px system-ui,sans-serif;fill:#444}.title{font-size:15px;font-weight:600}.grid{stroke:#8884;stroke-width:1}\
.axis{stroke:#888;stroke-width:1;fill:none}.curve{fill:none;stroke-width:2}\
@media(prefers-color-scheme:dark){text{fill:#ccc}}";

/// The whole file. Curves are at least one, with at least one point each.
pub(super) fn draw(title: &str, axes: &Axes, curves: &[Curve]) -> String {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let x = Scale::of(points().map(|point| point.x));
    let y = Scale::of(points().map(|point| point.y));
    let mut svg = Svg(String::new());
    svg.put(&format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\"><style>{STYLE}</style>"
    ));
    svg.text((LEFT, 24.0), "title", title);
    svg.grid(&x, &y);
    svg.text_centred(((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 14.0), &axes.x);
    let middle = f64::midpoint(TOP, HEIGHT - BOTTOM);
    svg.put(&format!(
        "<text text-anchor=\"middle\" transform=\"translate(18 {middle:.1}) rotate(-90)\">{}</text>",
        svg_text(&axes.y)
    ));
    for (at, curve) in curves.iter().enumerate() {
        svg.curve(at, curve, (&x, &y));
    }
    svg.put("</svg>");
    svg.0
}

fn across(place: f64) -> f64 {
    LEFT + place * (WIDTH - LEFT - RIGHT)
}

fn down(place: f64) -> f64 {
    HEIGHT - BOTTOM - place * (HEIGHT - TOP - BOTTOM)
}

struct Svg(String);

impl Svg {
    fn put(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    fn text(&mut self, (x, y): (f64, f64), class: &str, text: &str) {
        let text = svg_text(text);
        self.put(&format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\">{text}</text>"
        ));
    }

    fn text_centred(&mut self, (x, y): (f64, f64), text: &str) {
        let text = svg_text(text);
        self.put(&format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{text}</text>"
        ));
    }

    fn grid(&mut self, x: &Scale, y: &Scale) {
        let (top, bottom) = (down(1.0), down(0.0));
        let (left, right) = (across(0.0), across(1.0));
        for mark in x.marks() {
            let at = across(x.place(mark));
            self.put(&format!(
                "<path class=\"grid\" d=\"M{at:.1} {top:.1}V{bottom:.1}\"/>"
            ));
            self.text_centred((at, bottom + 19.0), &short(mark));
        }
        for mark in y.marks() {
            let at = down(y.place(mark));
            self.put(&format!(
                "<path class=\"grid\" d=\"M{left:.1} {at:.1}H{right:.1}\"/>"
            ));
            let text = short(mark);
            self.put(&format!(
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
                left - 7.0,
                at + 4.5
            ));
        }
        self.put(&format!(
            "<path class=\"axis\" d=\"M{left:.1} {top:.1}V{bottom:.1}H{right:.1}\"/>"
        ));
    }

    fn curve(&mut self, at: usize, curve: &Curve, (x, y): (&Scale, &Scale)) {
        let ink = INKS[at % INKS.len()];
        let dashes = match at / INKS.len() {
            0 => "",
            _ => " stroke-dasharray=\"6 4\"",
        };
        let places: Vec<(f64, f64)> = curve
            .points
            .iter()
            .map(|point| (across(x.place(point.x)), down(y.place(point.y))))
            .collect();
        let mut path = String::new();
        for (at, (x, y)) in places.iter().enumerate() {
            // Writing into a string cannot fail.
            let _ = write!(path, "{}{x:.1} {y:.1}", if at == 0 { "M" } else { "L" });
        }
        self.put(&format!(
            "<path class=\"curve\" stroke=\"{ink}\"{dashes} d=\"{path}\"/>"
        ));
        for ((x, y), point) in places.iter().zip(&curve.points) {
            let told = format!("{}: {}, {}", point.name, figure(point.x), figure(point.y));
            self.put(&format!(
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{ink}\"><title>{}</title></circle>",
                svg_text(&told)
            ));
        }
        if curve.name.is_empty() {
            return;
        }
        let (left, line) = (WIDTH - RIGHT + 16.0, TOP + 8.0 + 21.0 * at as f64);
        self.put(&format!(
            "<path class=\"curve\" stroke=\"{ink}\"{dashes} d=\"M{left:.1} {line:.1}h22\"/>"
        ));
        self.text((left + 29.0, line + 4.5), "", &curve.name);
    }
}

/// A mark's value without digits that say nothing.
fn short(value: f64) -> String {
    let size = value.abs();
    let (value, unit) = match size {
        1e9.. => (value / 1e9, "G"),
        1e6.. => (value / 1e6, "M"),
        1e4.. => (value / 1e3, "k"),
        _ => (value, ""),
    };
    // Sums of steps end in digits that nobody asked for.
    let rounded = (value * 1e6).round() / 1e6;
    format!("{rounded}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_short_and_names_are_escaped() {
        let cases = [
            (0.1 + 0.2, "0.3"),
            (20_000.0, "20k"),
            (5e6, "5M"),
            (-2.5, "-2.5"),
            (0.0, "0"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
        assert_eq!(svg_text("a<b>&\"\u{7}"), "a&lt;b&gt;&amp;&quot; ");
    }
}
