//! The order in which a map of Java has its keys, which shows in what OpenSearch answers, and which clients read by number.

use clew_platform::java_hash;

/// The places of names in the order of a `HashMap`, which grows before more than three quarters of it are taken.
pub(crate) fn java_order(names: &[String]) -> Vec<usize> {
    let mut slots: u32 = 16;
    while names.len() > slots as usize / 4 * 3 {
        slots *= 2;
    }
    let slot = |name: &str| {
        let hash = java_hash(name);
        (hash ^ (hash >> 16)) & (slots - 1)
    };
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|at| slot(&names[*at]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_as_a_table_of_java_has_them() {
        for (names, want) in [
            ("val1 val2 val3", "val3 val2 val1"),
            ("val2 vals val1 val3", "vals val3 val2 val1"),
            ("alpha beta gamma period", "period alpha beta gamma"),
            (
                "alpha beta gamma delta epsilon zeta eta theta price qty",
                "epsilon zeta eta price alpha qty delta theta beta gamma",
            ),
            (
                "alpha beta gamma delta epsilon zeta eta theta price qty aa bb cc dd",
                "zeta aa bb cc dd delta theta epsilon eta price alpha qty beta gamma",
            ),
        ] {
            let names: Vec<String> = names.split(' ').map(String::from).collect();
            let order = java_order(&names);
            let shown: Vec<&str> = order.iter().map(|at| names[*at].as_str()).collect();
            assert_eq!(shown.join(" "), want);
        }
    }
}
