use super::*;
use crate::dead_letter::Rejection;
use crate::event::OutputSet;

struct Answers(Delivery);

impl Sink for Answers {
    fn deliver(&mut self, _: &[Event]) -> Result<Delivery, SinkError> {
        Ok(self.0.clone())
    }
}

#[test]
fn an_event_that_one_refuses_is_refused_and_counted_once() {
    let rejection = |event_index| Rejection {
        event_index,
        status: 400,
        reason: String::new(),
    };
    let one = Delivery {
        acked: 2,
        duplicates: 1,
        retries: 3,
        rejected: vec![rejection(1)],
    };
    let other = Delivery {
        acked: 2,
        duplicates: 0,
        retries: 0,
        rejected: vec![rejection(1), rejection(2)],
    };
    let mut all = AllSinks::new(vec![Box::new(Answers(one)), Box::new(Answers(other))]);
    let batch = vec![Event::default(); 4];
    let delivery = all.deliver(&batch).unwrap();
    assert_eq!(
        (delivery.acked, delivery.duplicates, delivery.retries),
        (1, 1, 3)
    );
    assert_eq!(delivery.rejected, [rejection(1), rejection(2)]);
}

/// Takes everything but documents of this text, and remembers what came.
struct Picky(&'static [u8], std::sync::mpsc::Sender<String>);

impl Sink for Picky {
    fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError> {
        let mut delivery = Delivery::default();
        for (event_index, event) in batch.iter().enumerate() {
            let text = String::from_utf8(event.document.clone()).unwrap();
            self.1.send(text).unwrap();
            match event.document == self.0 {
                true => delivery.rejected.push(Rejection {
                    event_index,
                    status: 400,
                    reason: String::new(),
                }),
                false => delivery.acked += 1,
            }
        }
        Ok(delivery)
    }
}

#[test]
fn each_sink_gets_the_events_that_are_for_it() {
    let (out, came) = std::sync::mpsc::channel();
    let sink = |refused| Box::new(Picky(refused, out.clone()));
    let mut all = AllSinks::new(vec![sink(b"c"), sink(b"")]);
    let event = |text: &str, outputs: &[usize]| Event {
        document: text.into(),
        outputs: outputs
            .iter()
            .fold(OutputSet::NONE, |set, output| set.with(*output)),
        ..Event::default()
    };
    for (batch, expected, rejected) in [
        (
            vec![event("a", &[1]), event("b", &[0, 1]), event("c", &[0])],
            "bcab",
            vec![2],
        ),
        (vec![event("a", &[1]), event("d", &[1])], "ad", vec![]),
        // Memory that is used again forgets what was in it.
        (
            vec![event("c", &[0]), event("longer", &[1])],
            "clonger",
            vec![0],
        ),
    ] {
        let delivery = all.deliver(&batch).unwrap();
        assert_eq!(came.try_iter().collect::<String>(), expected);
        let places: Vec<usize> = delivery.rejected.iter().map(|r| r.event_index).collect();
        assert_eq!(places, rejected);
        assert_eq!(delivery.acked, (batch.len() - rejected.len()) as u64);
    }
}
