//! Scores as a real OpenSearch 2.19 gave them for six documents: `a a b`, `a b c d e f g`, `b c`,
//! `a c c d`, `d e f g h`, `a a a a x x x x x x x`.

use std::collections::BTreeMap;

use super::*;

/// Parameters of a scheme, and the scores of `a` in the first and the last document and of the phrase
/// `a b` in the first.
const SCORES: &[(&str, [f32; 3])] = &[
    ("type=BM25 k1=0.9 b=0.3", [0.60353696, 0.6473896, 1.2102207]),
    ("type=BM25 k1=0 b=0", [0.44183275, 0.44183275, 1.13498]),
    ("type=boolean", [1.0, 1.0, 1.0]),
    (
        "type=LMDirichlet",
        [0.0021610847, 0.001821645, 0.0029504183],
    ),
    ("type=LMDirichlet mu=5", [0.43286407, 0.20633644, 0.5845987]),
    ("type=LMDirichlet mu=0", [0.0, 0.0, 0.0]),
    ("type=LMJelinekMercer", [3.1354942, 2.5649493, 5.733341]),
    (
        "type=LMJelinekMercer lambda=0.7",
        [0.7166777, 0.45198515, 1.1998829],
    ),
    (
        "type=DFI independence_measure=standardized",
        [1.205736, 0.65750307, 1.3035871],
    ),
    (
        "type=DFI independence_measure=saturated",
        [1.2895067, 0.4150375, 1.7489383],
    ),
    (
        "type=DFI independence_measure=chisquared",
        [1.4367325, 0.4150375, 1.1368711],
    ),
    (
        "type=DFR basic_model=g after_effect=b normalization=no",
        [2.3387647, 2.5352888, 3.526098],
    ),
    (
        "type=DFR basic_model=g after_effect=b normalization=h1",
        [2.506529, 2.3286345, 3.9637856],
    ),
    (
        "type=DFR basic_model=g after_effect=b normalization=h2",
        [2.4567258, 2.3808787, 3.8255546],
    ),
    (
        "type=DFR basic_model=g after_effect=b normalization=h3",
        [2.8233862, 2.8233805, 5.065791],
    ),
    (
        "type=DFR basic_model=g after_effect=b normalization=z",
        [2.3935878, 2.4807322, 3.6606727],
    ),
    (
        "type=DFR basic_model=g after_effect=l normalization=no",
        [1.1693823, 1.2676444, 2.1929455],
    ),
    (
        "type=DFR basic_model=g after_effect=l normalization=h1",
        [1.2532645, 1.1643173, 2.4811907],
    ),
    (
        "type=DFR basic_model=g after_effect=l normalization=h2",
        [1.2283629, 1.1904393, 2.3901567],
    ),
    (
        "type=DFR basic_model=g after_effect=l normalization=h3",
        [1.4116931, 1.4116902, 3.2056265],
    ),
    (
        "type=DFR basic_model=g after_effect=l normalization=z",
        [1.1967939, 1.2403661, 2.2815716],
    ),
    (
        "type=DFR basic_model=if after_effect=b normalization=no",
        [1.1556447, 1.3867736, 1.8573351],
    ),
    (
        "type=DFR basic_model=if after_effect=b normalization=h1",
        [1.3529499, 1.1437308, 2.377389],
    ),
    (
        "type=DFR basic_model=if after_effect=b normalization=h2",
        [1.294377, 1.2051743, 2.2131448],
    ),
    (
        "type=DFR basic_model=if after_effect=b normalization=h3",
        [1.7256004, 1.7255936, 3.6866753],
    ),
    (
        "type=DFR basic_model=if after_effect=b normalization=z",
        [1.2201214, 1.3226105, 2.0172348],
    ),
    (
        "type=DFR basic_model=if after_effect=l normalization=no",
        [0.5778223, 0.6933868, 1.225848],
    ),
    (
        "type=DFR basic_model=if after_effect=l normalization=h1",
        [0.6764749, 0.5718654, 1.5690855],
    ),
    (
        "type=DFR basic_model=if after_effect=l normalization=h2",
        [0.6471885, 0.60258716, 1.4606838],
    ),
    (
        "type=DFR basic_model=if after_effect=l normalization=h3",
        [0.8628002, 0.8627968, 2.4316707],
    ),
    (
        "type=DFR basic_model=if after_effect=l normalization=z",
        [0.6100607, 0.66130525, 1.3313825],
    ),
    (
        "type=DFR basic_model=in after_effect=b normalization=no",
        [0.84990656, 1.0198879, 1.26243],
    ),
    (
        "type=DFR basic_model=in after_effect=b normalization=h1",
        [0.9950126, 0.8411446, 1.6159103],
    ),
    (
        "type=DFR basic_model=in after_effect=b normalization=h2",
        [0.95193577, 0.88633263, 1.5042737],
    ),
    (
        "type=DFR basic_model=in after_effect=b normalization=h3",
        [1.2690744, 1.2690694, 2.5063713],
    ),
    (
        "type=DFR basic_model=in after_effect=b normalization=z",
        [0.89732534, 0.9726998, 1.3711138],
    ),
    (
        "type=DFR basic_model=in after_effect=l normalization=no",
        [0.42495328, 0.50994396, 0.818715],
    ),
    (
        "type=DFR basic_model=in after_effect=l normalization=h1",
        [0.4975063, 0.4205723, 1.0479552],
    ),
    (
        "type=DFR basic_model=in after_effect=l normalization=h2",
        [0.47596788, 0.44316632, 0.97555625],
    ),
    (
        "type=DFR basic_model=in after_effect=l normalization=h3",
        [0.6345372, 0.6345347, 1.6243825],
    ),
    (
        "type=DFR basic_model=in after_effect=l normalization=z",
        [0.44866267, 0.4863499, 0.88919896],
    ),
    (
        "type=DFR basic_model=ine after_effect=b normalization=no",
        [0.60741246, 0.72889495, 1.2112441],
    ),
    (
        "type=DFR basic_model=ine after_effect=b normalization=h1",
        [0.711117, 0.60115045, 1.5503924],
    ),
    (
        "type=DFR basic_model=ine after_effect=b normalization=h2",
        [0.6803308, 0.6334455, 1.4432822],
    ),
    (
        "type=DFR basic_model=ine after_effect=b normalization=h3",
        [0.906984, 0.9069804, 2.403007],
    ),
    (
        "type=DFR basic_model=ine after_effect=b normalization=z",
        [0.64130175, 0.6951705, 1.3155212],
    ),
    (
        "type=DFR basic_model=ine after_effect=l normalization=no",
        [0.30370623, 0.36444747, 0.8323275],
    ),
    (
        "type=DFR basic_model=ine after_effect=l normalization=h1",
        [0.3555585, 0.30057523, 1.0653791],
    ),
    (
        "type=DFR basic_model=ine after_effect=l normalization=h2",
        [0.3401654, 0.31672275, 0.99177647],
    ),
    (
        "type=DFR basic_model=ine after_effect=l normalization=h3",
        [0.453492, 0.4534902, 1.650316],
    ),
    (
        "type=DFR basic_model=ine after_effect=l normalization=z",
        [0.32065088, 0.34758526, 0.90398335],
    ),
    (
        "type=DFR basic_model=in after_effect=l normalization=h2 normalization.h2.c=3.5",
        [0.5423604, 0.54264987, 1.2123932],
    ),
    (
        "type=DFR basic_model=g after_effect=b normalization=h1 normalization.h1.c=2.5",
        [2.6810257, 2.5780556, 4.515043],
    ),
    (
        "type=DFR basic_model=g after_effect=b normalization=h3 normalization.h3.c=20",
        [2.6330836, 2.6224704, 4.450944],
    ),
    (
        "type=DFR basic_model=g after_effect=b normalization=z normalization.z.z=0.1",
        [2.357426, 2.5178454, 3.5710554],
    ),
    (
        "type=IB distribution=ll lambda=df normalization=no",
        [1.335001, 1.8870696, 1.8870696],
    ),
    (
        "type=IB distribution=ll lambda=df normalization=h2",
        [1.6345221, 1.4335996, 2.3947487],
    ),
    (
        "type=IB distribution=ll lambda=ttf normalization=no",
        [0.9382697, 1.4136933, 1.5869651],
    ),
    (
        "type=IB distribution=ll lambda=ttf normalization=h2",
        [1.1917328, 1.0204041, 2.0389771],
    ),
    (
        "type=IB distribution=spl lambda=df normalization=no",
        [1.2149584, 1.7485509, 1.6236049],
    ),
    (
        "type=IB distribution=spl lambda=df normalization=h2",
        [1.503206, 1.3094674, 2.0933807],
    ),
    (
        "type=IB distribution=spl lambda=ttf normalization=no",
        [1.0171787, 1.5114372, 1.475097],
    ),
    (
        "type=IB distribution=spl lambda=ttf normalization=h2",
        [1.2818077, 1.1032524, 1.9165416],
    ),
];

fn read(parameters: &[(&str, &str)]) -> Result<Similarities, SimilarityError> {
    let given = parameters
        .iter()
        .map(|(name, value)| (format!("x.{name}"), (*value).to_string()));
    Similarities::read(given.collect())
}

#[test]
fn scores_are_those_of_opensearch() {
    let field = FieldStatistics {
        docs: 6,
        tokens: 32,
    };
    let a = TermStatistics {
        docs: 4,
        occurrences: 8,
    };
    let b = TermStatistics {
        docs: 3,
        occurrences: 3,
    };
    for (parameters, expected) in SCORES {
        let pairs = parameters
            .split(' ')
            .filter_map(|pair| pair.split_once('='));
        let schemes = read(&pairs.collect::<Vec<_>>()).unwrap();
        let scheme = schemes.named("x").unwrap();
        let word = Weigher::new(scheme, field, &[a]);
        let phrase = Weigher::new(scheme, field, &[a, b]);
        let scores = [
            word.score(2.0, 3.0),
            word.score(4.0, 11.0),
            phrase.score(1.0, 3.0),
        ];
        for (score, expected) in scores.into_iter().zip(*expected) {
            let distance = (score - expected).abs();
            assert!(
                distance <= 1e-5 * expected.max(0.1),
                "{parameters}: {scores:?}"
            );
        }
    }
}

#[test]
fn what_a_field_does_not_count_is_taken_for_one() {
    let field = FieldStatistics {
        docs: 6,
        tokens: 32,
    };
    let term = TermStatistics {
        docs: 4,
        occurrences: 8,
    };
    let all = Weigher::new(Similarity::USUAL, field, &[term]);
    let counting = |lengths, frequencies| {
        all.clone().counting(Counted {
            lengths,
            frequencies,
        })
    };
    let same = |one: f32, other: f32| assert!((one - other).abs() < f32::EPSILON);
    same(counting(true, true).score(3.0, 9.0), all.score(3.0, 9.0));
    same(counting(false, true).score(3.0, 9.0), all.score(3.0, 1.0));
    same(counting(true, false).score(3.0, 9.0), all.score(1.0, 9.0));
}

#[test]
fn what_opensearch_refuses_is_refused_in_its_words() {
    for (parameters, reason) in [
        (
            vec![("type", "nope")],
            "Unknown Similarity type [nope] for [x]",
        ),
        (
            vec![("k1", "1")],
            "Similarity [x] must have an associated type",
        ),
        (
            vec![("type", "BM25"), ("k", "1"), ("a", "1")],
            "Unknown settings for similarity of type [BM25]: [a, k]",
        ),
        (
            vec![("type", "BM25"), ("k1", "-1")],
            "illegal k1 value: -1.0, must be a non-negative finite value",
        ),
        (
            vec![("type", "BM25"), ("k1", "NaN")],
            "illegal k1 value: NaN, must be a non-negative finite value",
        ),
        (
            vec![("type", "BM25"), ("b", "2")],
            "illegal b value: 2.0, must be between 0 and 1",
        ),
        (
            vec![("type", "BM25"), ("b", "two")],
            "Failed to parse float setting [b] with value [two]",
        ),
        (
            vec![("type", "LMJelinekMercer"), ("lambda", "0")],
            "lambda must be in the range (0 .. 1]",
        ),
        (
            vec![("type", "DFR"), ("basic_model", "be")],
            "Basic model [be] isn't supported anymore, please use another model.",
        ),
        (
            vec![("type", "DFR"), ("basic_model", "g")],
            "Unsupported AfterEffect [null], expected one of [b, l]",
        ),
        (
            vec![
                ("type", "IB"),
                ("distribution", "ll"),
                ("lambda", "df"),
                ("normalization", "z"),
                ("normalization.z.z", "0.7"),
            ],
            "illegal z value: 0.7, must be in the range (0 .. 0.5)",
        ),
    ] {
        assert_eq!(read(&parameters).unwrap_err().to_string(), reason);
    }
    let own = BTreeMap::from([("BM25.type".to_string(), "boolean".to_string())]);
    let reason = "illegal value for [index.similarity.BM25] cannot redefine built-in similarity";
    assert_eq!(Similarities::read(own).unwrap_err().to_string(), reason);
}

#[test]
fn fields_that_name_none_have_the_default() {
    let given = |name: &str| BTreeMap::from([(format!("{name}.type"), "boolean".to_string())]);
    let with = |name: &str| Similarities::read(given(name)).unwrap();
    assert_eq!(with("default").usual(), Similarity::Boolean);
    assert_eq!(with("default").named("BM25"), Some(Similarity::USUAL));
    assert_eq!(with("other").usual(), Similarity::USUAL);
    assert_eq!(with("other").named("unknown"), None);
}
