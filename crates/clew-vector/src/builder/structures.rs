//! What a column is searched through is built here, and tried: where nobody insists on a graph, lists beside it, and the
//! faster of the two is kept.

use crate::builder::built::{Before, Built, Learnt, Structures};
use crate::builder::encode::{OwnedCodes, encode};
use crate::builder::unfinished::UnfinishedGraph;
use crate::builder::{ColumnBuilder, ImageOptions};
use crate::calibrate::{Agreed, Choice, Point, Tried, as_one_of, points_in_place_of, usual_walks};
use crate::column::{Checked, Integrity, View};
use crate::graph::{
    BuildOptions, CutShort, Exact, Fingerprint, NONE, OwnedGraph, Reuse, Twins, Watched,
    base_slots, build, upper_slots,
};
use crate::ivf::{
    BuildLists, OwnedLists, ROWS_PER_LIST_MIN, ROWS_PER_LIST_MIN_SMALL, ReuseLists, SharedCentres,
    build_lists,
};
use crate::measure::{Learning, Structure};
use crate::plan::lists_effort;
use crate::structure::{compares_lists, gets_graph, is_coded};
use crate::watch::BuildPhase;
use crate::{Method, VectorError};

/// Parts of fewer rows are too small for what a few of their own vectors find to stand for what others will: of 450 the lists that
/// should have found .97 found .946.
const TRIED_ROWS_MIN: usize = 1_024;

impl ColumnBuilder {
    /// Builds what the column shall be searched through, and learns what that takes.
    pub(super) fn build(
        &self,
        how: ImageOptions,
        before: Option<Before<'_>>,
    ) -> Result<(Option<Built>, Learnt), VectorError> {
        let (structure, choice, points) = match before {
            Some(before) => (Some(before.structure), before.choice, before.points),
            None => (None, None, &[][..]),
        };
        let choice = choice.filter(|choice| choice.holds_for(self.len()));
        let lists = match &structure {
            Some(Structures::Lists(reuse)) => Some(reuse),
            Some(Structures::Graph(_)) | None => None,
        };
        if matches!(self.options.method, Method::Lists(_)) {
            return self.build_named_lists(how, lists);
        }
        if self.is_small_part(how) {
            return match self.len() < TRIED_ROWS_MIN {
                true => self.build_named_lists(how, lists),
                false => self.build_lists_for_walks(how, lists, (None, &usual_walks())),
            };
        }
        match (structure, choice) {
            (structure, _) if !compares_lists(&self.options, how.graph) => {
                self.build_named_graph(how, structure, None)
            }
            (Some(Structures::Lists(reuse)), Some(choice)) => {
                self.build_lists_for_walks(how, Some(&reuse), (Some(choice), points))
            }
            (Some(structure @ Structures::Graph(_)), Some(choice)) => {
                self.build_named_graph(how, Some(structure), Some(choice))
            }
            (structure, _) => self.build_as_agreed(how, structure),
        }
    }

    /// What other parts of the whole have chosen, or whichever of a graph and lists is the faster one.
    fn build_as_agreed(
        &self,
        how: ImageOptions,
        before: Option<Structures<'_>>,
    ) -> Result<(Option<Built>, Learnt), VectorError> {
        let settled = self.agreed().and_then(|agreed| agreed.settled(self.len()));
        match (settled, before) {
            (Some((choice, points)), before) if choice.is_for_lists() => {
                let reuse = match &before {
                    Some(Structures::Lists(reuse)) => Some(reuse),
                    Some(Structures::Graph(_)) | None => None,
                };
                self.build_lists_for_walks(how, reuse, (Some(choice), &points))
            }
            (Some((choice, _)), before) => self.build_named_graph(how, before, Some(choice)),
            (None, before) => self.build_both(how, before),
        }
    }

    /// What parts of the same whole have chosen, where there are several.
    fn agreed(&self) -> Option<&Agreed> {
        let shared = self.shared.as_deref();
        let shared = shared.filter(|shared| shared.parts() > 1);
        shared.map(SharedCentres::agreed)
    }

    fn build_named_graph(
        &self,
        how: ImageOptions,
        before: Option<Structures<'_>>,
        choice: Option<Choice>,
    ) -> Result<(Option<Built>, Learnt), VectorError> {
        let built = self.build_graph(how, before)?;
        let walks = match self.try_all(&built, how) {
            Ok(walks) => walks,
            Err(error) => return Err(self.cut_short(built, error)),
        };
        let learnt = Learnt {
            points: walks.iter().map(Tried::point).collect(),
            probes: Vec::new(),
            choice,
        };
        Ok((Some(built), learnt))
    }

    /// Leaves a graph behind whose build ends with an error, if that is because it was cancelled; the error.
    pub(super) fn cut_short(&self, built: Built, error: VectorError) -> VectorError {
        if let (Built::Graph { graph, .. }, VectorError::Cancelled) = (built, &error) {
            self.leave_off(graph);
        }
        error
    }

    fn cut_off(&self, cut: CutShort) -> VectorError {
        self.leave_off(cut.graph);
        cut.error
    }

    fn leave_off(&self, graph: OwnedGraph) {
        if let Some(place) = &self.left_off {
            place.leave(UnfinishedGraph {
                graph,
                docs: self.docs.clone(),
                options: self.options,
            });
        }
    }

    /// Lists that were asked for: an effort makes a number of lists as ever, and what recall that has is learnt.
    fn build_named_lists(
        &self,
        how: ImageOptions,
        reuse: Option<&ReuseLists<'_>>,
    ) -> Result<(Option<Built>, Learnt), VectorError> {
        let Some(built) = self.build_lists(how, reuse)? else {
            return Ok((None, Learnt::default()));
        };
        let tried = self.try_all(&built, how)?;
        let count = built.list_count();
        let points = tried.iter().map(|one| {
            let mut point = one.point();
            point.ef = lists_effort(one.effort, count).max(1);
            point
        });
        let learnt = Learnt {
            points: points.collect(),
            probes: Vec::new(),
            choice: None,
        };
        Ok((Some(built), learnt))
    }

    /// Lists in place of a graph with these points: one that they were chosen before, which still holds, or one as it is usually.
    fn build_lists_for_walks(
        &self,
        how: ImageOptions,
        reuse: Option<&ReuseLists<'_>>,
        (choice, points): (Option<Choice>, &[Point]),
    ) -> Result<(Option<Built>, Learnt), VectorError> {
        let Some(built) = self.build_lists(how, reuse)? else {
            return Ok((None, Learnt::default()));
        };
        let tried = self.try_all(&built, how)?;
        let learnt = Learnt::of_lists(&tried, points_in_place_of(points, &tried), choice);
        Ok((Some(built), learnt))
    }

    /// A graph and lists, of which the faster is kept.
    fn build_both(
        &self,
        how: ImageOptions,
        before: Option<Structures<'_>>,
    ) -> Result<(Option<Built>, Learnt), VectorError> {
        let graph = self.build_graph(how, before)?;
        match self.lists_beside(&graph, how) {
            Ok((lists, learnt)) => Ok((Some(lists.unwrap_or(graph)), learnt)),
            Err(error) => Err(self.cut_short(graph, error)),
        }
    }

    /// Lists where they are faster than a graph, and what was learnt of the faster one.
    fn lists_beside(
        &self,
        graph: &Built,
        how: ImageOptions,
    ) -> Result<(Option<Built>, Learnt), VectorError> {
        let Some(lists) = self.build_lists(how, None)? else {
            return Ok((None, Learnt::default()));
        };
        self.watch.progress.check()?;
        self.watch.progress.begin(BuildPhase::Learn, (0, 0));
        let both = [graph, &lists];
        let learning = self.learning(&both, how)?;
        let [walks, tried] = self.seen(&[graph], |walked| {
            self.seen(&[&lists], |listed| {
                let both = [(walked, Structure::Graph), (listed, Structure::Lists)];
                learning.prices(&self.options, both)
            })
        })?;
        let own = Choice::of(self.len(), &walks, &as_one_of(&tried, self.parts()));
        let agreed = self.agreed();
        let choice = own.map(|own| agreed.map_or(own, |agreed| agreed.agree(own)));
        let learn = |points: &[Point]| {
            if let (Some(agreed), Some(choice)) = (agreed, &choice) {
                agreed.learn(choice, points);
            }
        };
        match choice {
            Some(choice) if choice.is_for_lists() => {
                let walks = self.try_with(&learning, (graph, Structure::Graph), walks)?;
                let tried = self.try_with(&learning, (&lists, Structure::Lists), tried)?;
                let points: Vec<_> = walks.iter().map(Tried::point).collect();
                learn(&points);
                let learnt =
                    Learnt::of_lists(&tried, points_in_place_of(&points, &tried), Some(choice));
                Ok((Some(lists), learnt))
            }
            _ => {
                // A graph is not measured by others' points.
                learn(&[]);
                let structure = Structure::GraphUnseen;
                let walks = self.try_with(&learning, (graph, structure), Vec::new())?;
                let learnt = Learnt {
                    points: walks.iter().map(Tried::point).collect(),
                    probes: Vec::new(),
                    choice,
                };
                Ok((None, learnt))
            }
        }
    }

    /// Tries what was built, by itself.
    fn try_all(&self, built: &Built, how: ImageOptions) -> Result<Vec<Tried>, VectorError> {
        self.watch.progress.check()?;
        self.watch.progress.begin(BuildPhase::Learn, (0, 0));
        let learning = self.learning(&[built], how)?;
        let structure = match built {
            Built::Graph { .. } => Structure::GraphUnseen,
            Built::Lists(_) => Structure::Lists,
        };
        self.try_with(&learning, (built, structure), Vec::new())
    }

    fn learning(&self, built: &[&Built], how: ImageOptions) -> Result<Learning, VectorError> {
        self.seen(built, |view| {
            Learning::begin(view, &self.options, how.threads)
        })
    }

    fn try_with(
        &self,
        learning: &Learning,
        (built, structure): (&Built, Structure),
        before: Vec<Tried>,
    ) -> Result<Vec<Tried>, VectorError> {
        self.seen(&[built], |view| {
            learning.try_all((view, &self.options), structure, before)
        })
    }

    /// Shows what was built before it is written: a graph, lists, or both.
    fn seen<T>(&self, built: &[&Built], see: impl FnOnce(&View<'_>) -> T) -> T {
        let header = self.header(built.first().copied(), 0, &[]);
        let checked = Checked::nothing();
        let (mut graph, mut codes, mut lists) = (None, None, None);
        for built in built {
            match built {
                Built::Graph {
                    graph: its,
                    codes: its_codes,
                } => {
                    (graph, codes) = (Some(its), its_codes.as_ref());
                }
                Built::Lists(its) => lists = Some(its),
            }
        }
        see(&View {
            space: self.options.space,
            rows: self.rows(),
            // Documents are not asked for: rows are.
            docs: None,
            documents: None,
            graph: graph.map(|graph| graph.view(self.len(), self.options.hnsw.m)),
            codes: codes.map(OwnedCodes::view),
            lists: lists.map(OwnedLists::view),
            calibration: None,
            choice: None,
            integrity: Integrity {
                header: &header,
                image: &[],
                checked: &checked,
            },
        })
    }

    /// Whether it has lists by the size of the whole that it is a part of, and not by its own.
    fn is_small_part(&self, how: ImageOptions) -> bool {
        !gets_graph(&self.options, self.len(), how.graph)
    }

    /// Columns of about this size that are searched together.
    pub(super) fn parts(&self) -> usize {
        let shared = self.shared.as_deref();
        shared.map_or(1, SharedCentres::parts)
    }

    fn build_lists(
        &self,
        how: ImageOptions,
        reuse: Option<&ReuseLists<'_>>,
    ) -> Result<Option<Built>, VectorError> {
        let how = BuildLists {
            space: self.options.space,
            options: self.options.list_options(),
            parts: self.parts(),
            rows_per_list_min: match self.is_small_part(how) {
                true => ROWS_PER_LIST_MIN_SMALL,
                false => ROWS_PER_LIST_MIN,
            },
            seed: how.seed,
            threads: how.threads.max(1),
        };
        let before = (reuse, self.shared.as_deref());
        let lists = build_lists(&self.rows(), &how, before, &self.watch.progress)?;
        Ok(lists.map(Built::Lists))
    }

    fn build_graph(
        &self,
        how: ImageOptions,
        before: Option<Structures<'_>>,
    ) -> Result<Built, VectorError> {
        let mut reuse = match before {
            Some(Structures::Graph(reuse)) => Some(reuse),
            Some(Structures::Lists(_)) | None => None,
        };
        let hnsw = &self.options.hnsw;
        let rows = self.rows();
        let options = BuildOptions {
            base_slots: base_slots(hnsw.m),
            upper_slots: upper_slots(hnsw.m),
            ef: build_ef(hnsw.ef_construction),
            seed: how.seed,
            threads: how.threads.max(1),
        };
        let twins = Twins::find(&rows);
        for row in reuse.iter_mut().flat_map(|reuse| &mut reuse.new_rows) {
            // Twins hang from the first of them, wherever they hung before.
            if twins.contains(*row) {
                *row = NONE;
            }
        }
        let reuse = reuse.as_ref();
        let progress = &*self.watch.progress;
        let savepoint = self.watch.savepoint.as_deref();
        let watched = Watched {
            progress,
            savepoint: savepoint.map(|point| (point, self.fingerprint(how.seed, reuse))),
        };
        if !is_coded(&self.options) {
            let graph = build(&Exact { rows }, &twins, reuse, &options, watched);
            let graph = graph.map_err(|cut| self.cut_off(*cut))?;
            return Ok(Built::Graph { graph, codes: None });
        }
        let (codes, coded) = encode(
            &rows,
            (self.options.space, self.options.code_bits),
            (how.seed, options.threads),
            progress,
        )?;
        let graph = build(&coded, &twins, reuse, &options, watched);
        let graph = graph.map_err(|cut| self.cut_off(*cut))?;
        let codes = Some(codes);
        Ok(Built::Graph { graph, codes })
    }

    /// What the graph follows from.
    fn fingerprint(&self, seed: u64, reuse: Option<&Reuse<'_>>) -> Fingerprint {
        let settings = self.header(None, seed, &[]).encode();
        let (rows, links) = reuse.map_or((0, 0), |reuse| {
            let sum = |numbers: &[u32]| crc32c::crc32c(bytemuck::cast_slice(numbers));
            (sum(&reuse.new_rows), sum(reuse.graph.links))
        });
        let vectors = crc32c::crc32c(self.values.bytes());
        [crc32c::crc32c(&settings), vectors, rows, links]
    }
}

/// Candidates that a build considers for the setting `ef_construction`. Lists of half as many links
/// again reach the quality that the setting promises with fewer: MiniLM at ef 64, recall .980 with 80
/// candidates, where hnswlib has .969 with 128.
fn build_ef(ef_construction: u16) -> usize {
    (usize::from(ef_construction) * 5).div_ceil(8)
}
