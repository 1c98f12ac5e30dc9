use super::*;

const LIMITS: Limits = Limits {
    cut: Cut::AsItArrives,
    batch_lines_max: 3,
    batch_bytes: 64,
    line_bytes_max: 100,
};

/// Gives its bytes in pieces of the given sizes, over and over.
struct Pieces<'a>(&'a [u8], Vec<usize>);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let size = self.1[0].min(self.0.len()).min(buffer.len());
        self.1.rotate_left(1);
        buffer[..size].copy_from_slice(&self.0[..size]);
        self.0 = &self.0[size..];
        Ok(size)
    }
}

fn batches(input: &[u8], sizes: &[usize], limits: Limits) -> anyhow::Result<Vec<Vec<Vec<u8>>>> {
    let mut batches = Batches::new(Pieces(input, sizes.to_vec()), limits);
    let mut out = Vec::new();
    while let Some(batch) = batches.next()? {
        out.push(batch.into_iter().map(<[u8]>::to_vec).collect());
    }
    Ok(out)
}

#[test]
fn lines_are_kept_byte_for_byte_however_they_arrive() {
    let inputs: [&[u8]; 7] = [
        b"",
        b"\n",
        b"a",
        b"a\n",
        b"a\r\n\n\xff\xfe\n\nlast",
        b"\n\n\n\n\n",
        b"one\ntwo\nthree\nfour\nfive\nsix\nseven\n",
    ];
    for input in inputs {
        let mut expected: Vec<&[u8]> = input.split(|byte| *byte == b'\n').collect();
        if expected.last() == Some(&&b""[..]) {
            expected.pop();
        }
        for sizes in [&[1][..], &[2, 3], &[1000]] {
            for cut in [Cut::AsItArrives, Cut::WhenFull] {
                let found = batches(input, sizes, Limits { cut, ..LIMITS }).unwrap();
                assert!(found.iter().all(|batch| batch.len() <= 3));
                assert_eq!(found.concat(), expected, "{input:?} {sizes:?} {cut:?}");
            }
        }
    }
}

#[test]
fn full_batches_do_not_depend_on_how_the_input_arrives() {
    let input: Vec<u8> = (0..50)
        .flat_map(|n| format!("{}\n", "x".repeat(n)).into_bytes())
        .collect();
    let limits = Limits {
        cut: Cut::WhenFull,
        ..LIMITS
    };
    let expected = batches(&input, &[100_000], limits).unwrap();
    for sizes in [&[1][..], &[7, 64, 3], &[500]] {
        assert_eq!(batches(&input, sizes, limits).unwrap(), expected);
    }
    assert!(expected.len() > 17);
}

#[test]
fn a_line_that_arrives_does_not_wait_for_the_next() {
    let found = batches(b"a\nb\nc", &[3, 2], LIMITS).unwrap();
    assert_eq!(
        found,
        [
            vec![b"a".to_vec()],
            vec![b"b".to_vec()],
            vec![b"c".to_vec()]
        ]
    );
}

#[test]
fn a_line_over_the_limit_is_named_by_its_number() {
    let mut input = b"a\nb\nc\nd\n".to_vec();
    input.extend([b'x'; 101]);
    for (tail, sizes) in [(&b""[..], &[1000][..]), (b"\n", &[1000]), (b"xx", &[1])] {
        let input = [&input[..], tail].concat();
        let error = batches(&input, sizes, LIMITS).unwrap_err().to_string();
        assert_eq!(error, "line 5 is longer than an entry may be (100 bytes)");
    }
    assert_eq!(
        batches(&input[..108], &[9], LIMITS).unwrap().concat().len(),
        5
    );
}
