//! `FROM` and what is joined there: how it is read, which conditions each source can answer by itself, and what its rows are
//! joined by.

use std::collections::BTreeSet;

use crate::error::SqlError;
use crate::statement::expr::{Expr, Logic, Op, conjuncts};
use crate::statement::nested::unnested;
use crate::statement::plan::{Join, JoinKind, Output, Plan, Rows, SCANNED_MAX, Stage};
use crate::statement::words::Parser;

/// Where the rows of a SELECT come from.
pub(crate) struct Source {
    pub(crate) plan: Plan,
    /// What may stand before the names of columns.
    pub(crate) names: Vec<String>,
    joined: Vec<Joined>,
}

/// What is joined to the rows before it.
struct Joined {
    of: Other,
    name: String,
    kind: JoinKind,
    on: Vec<Expr>,
}

/// What the other rows of a join are.
enum Other {
    /// Those of the plan with this number, which is done before.
    Plan(usize),
    /// Nested objects of the source with this number, at a path.
    Nested(usize, String),
}

/// One of the sources that are joined.
struct Side {
    /// What stands before the names of its columns, with the dot.
    prefix: String,
    /// The columns that are read, without the prefix.
    columns: Vec<String>,
    /// Whether a star asks for all of them.
    is_whole: bool,
    /// Whether it is made of nested objects, which its name alone stands for.
    is_nested: bool,
    /// What its nested objects are made of.
    made: Vec<Stage>,
}

impl Source {
    /// Reads what stands behind `FROM`.
    pub(crate) fn read(parser: &mut Parser<'_>) -> Result<Self, SqlError> {
        let (plan, names) = table(parser)?;
        let mut source = Source {
            plan,
            names,
            joined: Vec::new(),
        };
        while let Some(kind) = joins(parser)? {
            let joined = source.another(parser, kind)?;
            source.joined.push(joined);
        }
        Ok(source)
    }

    pub(crate) fn is_joined(&self) -> bool {
        !self.joined.is_empty()
    }

    /// A column with the name of the first source before it, where it has none and nothing but nested objects of that
    /// source is joined.
    pub(crate) fn qualified(&self, expr: &Expr) -> Option<Expr> {
        let Expr::Column(name) = expr else {
            return None;
        };
        let first = self.names.first()?;
        let is_nested = |joined: &Joined| matches!(joined.of, Other::Nested(..));
        let is_behind = |of: &str| {
            let rest = name.strip_prefix(of);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let is_said = self.joined.iter().any(|joined| is_behind(&joined.name));
        if is_said || name.starts_with('#') || !self.joined.iter().all(is_nested) {
            return None;
        }
        let own = self.names.iter().find_map(|own| {
            let bare = name.strip_prefix(own.as_str())?;
            bare.strip_prefix('.')
        });
        Some(Expr::Column(format!("{first}.{}", own.unwrap_or(name))))
    }

    fn another(&self, parser: &mut Parser<'_>, kind: JoinKind) -> Result<Joined, SqlError> {
        let (plan, names) = table(parser)?;
        let own = self.names.iter().take(1);
        let others = self.joined.iter().map(|joined| &joined.name);
        let mut known = own.chain(others).enumerate();
        let nested = known.find_map(|(number, known)| {
            let below = plan.indices.as_ref()?.strip_prefix(known.as_str())?;
            let path = below.strip_prefix('.')?;
            Some(Other::Nested(number, path.to_string()))
        });
        let of = match nested {
            Some(nested) => nested,
            None => Other::Plan(parser.done_before(plan, true)?),
        };
        let is_same = |joined: &Joined| match (&joined.of, &of) {
            (Other::Nested(_, have), Other::Nested(_, path)) => have == path,
            _ => false,
        };
        if self.joined.iter().any(is_same) {
            return Err(SqlError::unsupported(
                "joining the same nested objects twice",
            ));
        }
        let name = names.into_iter().next();
        let name = name.ok_or_else(|| parser.error("a name for the SELECT that is joined"))?;
        let on = if parser.keyword("on") {
            conjuncts(parser.expr()?)
        } else {
            Vec::new()
        };
        Ok(Joined { of, name, kind, on })
    }

    /// The one source that all become, whose plan puts their rows together: their columns have the names of the sources
    /// before them. Conditions that one source can answer go there, those of two become what they are joined by; `filter`
    /// keeps the others.
    ///
    /// # Errors
    /// Columns of no source, or of which it is not known of which.
    pub(crate) fn assembled(
        self,
        parser: &mut Parser<'_>,
        mut names: Vec<String>,
        stars: &[String],
        filter: &mut Option<Expr>,
    ) -> Result<Self, SqlError> {
        let ons = self.joined.iter().flat_map(|joined| &joined.on);
        ons.for_each(|expr| expr.columns(&mut names));
        let mut sides = Sides::of(&self)?;
        for name in &names {
            sides.read(name)?;
        }
        sides.read_stars(stars)?;
        let mut open = filter.take().map(conjuncts).unwrap_or_default();
        // Rows that stand alone on the right are there only behind the join: a condition on all is asked there, too.
        let is_late = self.joined.iter().any(|joined| joined.kind.keeps_right());
        let mut late = if is_late {
            std::mem::take(&mut open)
        } else {
            Vec::new()
        };
        let mut plan = self.plan;
        let mut stages = Vec::new();
        let own = taken(&mut open, |expr| sides.is_of(expr, 0, true));
        plan.stages.extend(sides.filter(own, 0));
        for (at, joined) in self.joined.into_iter().enumerate() {
            let number = at + 1;
            let mut on = joined.on;
            let may_answer = |expr: &Expr| sides.answers(expr, number);
            if joined.kind == JoinKind::Inner {
                on.extend(taken(&mut open, may_answer));
            }
            match joined.of {
                Other::Nested(of, path) => {
                    let keeps_left = joined.kind.keeps_left();
                    if keeps_left && !on.is_empty() {
                        return Err(SqlError::unsupported("ON of nested objects"));
                    }
                    if joined.kind.keeps_right() {
                        return Err(SqlError::unsupported("RIGHT JOIN of nested objects"));
                    }
                    stages.extend(sides.unnest(of, number, &path, keeps_left)?);
                    stages.extend(all_of(on).map(Stage::Filter));
                }
                Other::Plan(subquery) => {
                    let stays = joined.kind.keeps_right();
                    let own = taken(&mut on, |expr| !stays && sides.is_of(expr, number, false));
                    let join = sides.join(on, (number, subquery), joined.kind);
                    stages.push(Stage::Join(join));
                    let shown = sides.shown(number);
                    let filter = sides.filter(own, number);
                    if let Some(other) = parser.subqueries.get_mut(subquery) {
                        other.plan.stages.extend(filter.into_iter().chain(shown));
                        other.plan = whole(std::mem::take(&mut other.plan));
                    }
                }
            }
        }
        plan.stages.extend(sides.shown(0));
        plan.stages.append(&mut stages);
        open.append(&mut late);
        *filter = all_of(open);
        Ok(Source {
            plan,
            names: Vec::new(),
            joined: Vec::new(),
        })
    }
}

/// All conditions as one.
pub(crate) fn all_of(mut conditions: Vec<Expr>) -> Option<Expr> {
    match conditions.len() {
        0 | 1 => conditions.pop(),
        _ => Some(Expr::Logic(Logic::And, conditions)),
    }
}

/// A plan of whose rows all are wanted, instead of those that an answer shows.
pub(crate) fn whole(mut plan: Plan) -> Plan {
    plan.stages.push(Stage::Limit {
        // One more than may be looked at: that there are more is found out.
        count: SCANNED_MAX + 1,
        offset: 0,
    });
    plan
}

/// Takes the conditions that are wanted away from the others.
fn taken(conditions: &mut Vec<Expr>, wanted: impl Fn(&Expr) -> bool) -> Vec<Expr> {
    let all = std::mem::take(conditions);
    let (wanted, others) = all.into_iter().partition(wanted);
    *conditions = others;
    wanted
}

/// A SELECT in parentheses or an expression of indexes, with its names.
fn table(parser: &mut Parser<'_>) -> Result<(Plan, Vec<String>), SqlError> {
    let (plan, mut names) = if parser.symbol("(") {
        (parser.select()?, Vec::new())
    } else {
        let indices = parser.indices(false)?;
        let names = vec![indices.clone()];
        let plan = Plan {
            indices: Some(indices),
            ..Plan::default()
        };
        (plan, names)
    };
    if let Some(alias) = parser.alias()? {
        names.insert(0, alias);
    }
    Ok((plan, names))
}

/// Whether something is joined, and how.
fn joins(parser: &mut Parser<'_>) -> Result<Option<JoinKind>, SqlError> {
    if parser.symbol(",") {
        return Ok(Some(JoinKind::Inner));
    }
    let outer = [
        ("left", JoinKind::Left),
        ("right", JoinKind::Right),
        ("full", JoinKind::Full),
    ];
    for (word, kind) in outer {
        if parser.keyword(word) {
            parser.keyword("outer");
            parser.expect_keyword("join")?;
            return Ok(Some(kind));
        }
    }
    if parser.keyword("inner") || parser.keyword("cross") {
        parser.expect_keyword("join")?;
        return Ok(Some(JoinKind::Inner));
    }
    Ok(parser.keyword("join").then_some(JoinKind::Inner))
}

/// All that are joined, in their order.
struct Sides(Vec<Side>);

impl Sides {
    fn of(source: &Source) -> Result<Self, SqlError> {
        let first = source.names.first().cloned().unwrap_or_default();
        let others = source.joined.iter().map(|joined| {
            let is_nested = matches!(joined.of, Other::Nested(..));
            (joined.name.clone(), is_nested)
        });
        let mut known = BTreeSet::new();
        let mut sides = Vec::new();
        for (name, is_nested) in std::iter::once((first, false)).chain(others) {
            let prefix = format!("{name}.");
            if !known.insert(prefix.clone()) {
                return Err(SqlError::semantic(format!(
                    "Not unique table/alias: [{name}]"
                )));
            }
            sides.push(Side {
                prefix,
                columns: Vec::new(),
                is_whole: false,
                is_nested,
                made: Vec::new(),
            });
        }
        Ok(Sides(sides))
    }

    /// The source that a column is of, and its name there.
    fn find<'n>(&self, name: &'n str) -> Option<(usize, &'n str)> {
        let sides = self.0.iter().enumerate();
        let found = sides.filter_map(|(at, side)| {
            let bare = name.strip_prefix(side.prefix.as_str());
            let is_object = side.is_nested && side.prefix.strip_suffix('.') == Some(name);
            Some((at, bare.or(is_object.then_some(""))?))
        });
        // The longest of names that begin like one another is meant.
        found.min_by_key(|(_, bare)| bare.len())
    }

    /// Notes that a column is read.
    fn read(&mut self, name: &str) -> Result<(), SqlError> {
        if name.starts_with('#') {
            return Ok(());
        }
        let Some((at, bare)) = self.find(name) else {
            return Err(SqlError::semantic(format!(
                "the column [{name}] needs the name of its index before it, because several are joined"
            )));
        };
        let columns = &mut self.0[at].columns;
        if !columns.iter().any(|have| have == bare) {
            columns.push(bare.to_string());
        }
        Ok(())
    }

    /// Notes for which sources a star stands.
    fn read_stars(&mut self, stars: &[String]) -> Result<(), SqlError> {
        for star in stars {
            let prefix = star.strip_suffix('*').unwrap_or_default();
            let mut is_known = prefix.is_empty();
            for side in &mut self.0 {
                let is_meant = prefix.is_empty() || side.prefix == prefix;
                side.is_whole |= is_meant;
                is_known |= is_meant;
            }
            if !is_known {
                return Err(SqlError::unknown_column(star));
            }
        }
        Ok(())
    }

    /// The sources that an expression reads, and whether it reads what the statement made.
    fn read_by(&self, expr: &Expr) -> (BTreeSet<usize>, bool) {
        let mut names = Vec::new();
        expr.columns(&mut names);
        let found = names.iter().filter_map(|name| self.find(name));
        let sides = found.map(|(at, _)| at).collect();
        (sides, names.iter().any(|name| name.starts_with('#')))
    }

    /// Whether an expression reads one source alone; and, where it may, values of subqueries.
    fn is_of(&self, expr: &Expr, at: usize, with_made: bool) -> bool {
        let (sides, is_made) = self.read_by(expr);
        sides.len() == 1 && sides.contains(&at) && (with_made || !is_made)
    }

    /// Whether a condition can be answered as soon as a source is joined, and not before.
    fn answers(&self, expr: &Expr, at: usize) -> bool {
        let (sides, _) = self.read_by(expr);
        sides.last() == Some(&at)
    }

    /// Conditions on one source as it knows its columns.
    fn filter(&self, conditions: Vec<Expr>, at: usize) -> Option<Stage> {
        let bare = |part: &Expr| match part {
            Expr::Column(name) => {
                let (of, bare) = self.find(name)?;
                (of == at).then(|| Expr::column(bare))
            }
            _ => None,
        };
        let bared = |expr: Expr| expr.replaced(&mut |part| bare(part));
        all_of(conditions.into_iter().map(bared).collect()).map(Stage::Filter)
    }

    /// What gives a source's columns their names.
    fn shown(&mut self, at: usize) -> Vec<Stage> {
        let side = &mut self.0[at];
        let mut stages = std::mem::take(&mut side.made);
        if side.is_whole {
            stages.push(Stage::Prefix {
                prefix: side.prefix.clone(),
                also: side.columns.clone(),
            });
            return stages;
        }
        let columns = side.columns.iter();
        let named =
            columns.map(|name| Output::named(Expr::column(name), format!("{}{name}", side.prefix)));
        let mut outputs: Vec<Output> = named.collect();
        let made = stages.iter().flat_map(|stage| match stage {
            Stage::Eval(made) => made.as_slice(),
            _ => &[],
        });
        outputs.extend(made.map(|(name, _)| Output::named(Expr::column(name), name)));
        stages.push(Stage::Project(outputs));
        stages
    }

    /// Makes rows of the nested objects of the first source.
    fn unnest(
        &mut self,
        of: usize,
        at: usize,
        path: &str,
        keeps_left: bool,
    ) -> Result<Vec<Stage>, SqlError> {
        let side = &self.0[at];
        if of != 0 {
            return Err(SqlError::unsupported(
                "nested objects of another source than the first",
            ));
        }
        let named = |below: &str| match below {
            "" => side.prefix.trim_end_matches('.').to_string(),
            below => format!("{}{below}", side.prefix),
        };
        let columns = side.columns.iter().map(String::as_str);
        // A star brings what lies right below the path.
        let is_brought = |below: &&str| side.is_whole && !below.is_empty() && !below.contains('.');
        let columns = columns.filter(|below| !is_brought(below));
        let columns = columns.chain(side.is_whole.then_some("*"));
        let parts = columns.map(|below| (below.to_string(), named(below)));
        let mut stages = unnested(path, parts.collect(), keeps_left);
        let unnest = stages.split_off(1);
        self.0[of].made.append(&mut stages);
        Ok(unnest)
    }

    /// Conditions as what rows are joined by.
    fn join(&self, on: Vec<Expr>, (at, subquery): (usize, usize), kind: JoinKind) -> Join {
        let (mut keys, mut others) = (Vec::new(), Vec::new());
        for expr in on {
            match self.key(&expr, at) {
                Some(key) => keys.push(key),
                None => others.push(expr),
            }
        }
        Join {
            kind,
            rows: Rows::Of(subquery),
            keys,
            condition: all_of(others),
        }
    }

    /// The two sides of an equality, where one is of the rows so far and the other of the others alone.
    fn key(&self, expr: &Expr, at: usize) -> Option<(Expr, Expr)> {
        let Expr::Binary(Op::Equal, left, right) = expr else {
            return None;
        };
        let is_before = |expr: &Expr| {
            let (sides, is_made) = self.read_by(expr);
            !is_made && sides.last().is_some_and(|last| *last < at)
        };
        let is_other = |expr: &Expr| self.is_of(expr, at, false);
        if is_before(left) && is_other(right) {
            return Some(((**left).clone(), (**right).clone()));
        }
        (is_before(right) && is_other(left)).then(|| ((**right).clone(), (**left).clone()))
    }
}
