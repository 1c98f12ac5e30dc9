//! Reads calls of functions, and makes of some what they mean.

use serde_json::Value;

use crate::error::SqlError;
use crate::statement::expr::{AGGREGATES, Call, Expr, Op, RELEVANCE};
use crate::statement::highlight;
use crate::statement::lex::TokenKind;
use crate::statement::nested::ALL;
use crate::statement::parser::binary;
use crate::statement::words::Parser;

impl Parser<'_> {
    /// A call, of which the name and the parenthesis were read.
    pub(crate) fn call(&mut self, name: String) -> Result<Expr, SqlError> {
        let mut call = Call {
            distinct: self.keyword("distinct"),
            name,
            args: Vec::new(),
            options: Vec::new(),
        };
        let takes_options = RELEVANCE.contains(&call.name.as_str())
            || matches!(
                call.name.as_str(),
                "date_histogram" | "histogram" | "highlight"
            );
        while !self.symbol(")") {
            let is_first = call.args.is_empty() && call.options.is_empty();
            // PPL has the last result of a case behind ELSE.
            if !(is_first || call.name == "case" && self.keyword("else")) {
                self.expect(",")?;
            }
            if takes_options && self.is_symbol(1, "=") {
                let option = match self.peek() {
                    Some(TokenKind::Text(_)) => self.text()?,
                    _ => self.name()?,
                };
                let option = option.to_ascii_lowercase();
                self.expect("=")?;
                call.options.push((option, self.option()?));
            } else if self.symbol("*") {
                call.args.push(Expr::Star);
            } else if call.name == "nested" && self.is_symbol(1, ".") && self.is_symbol(2, "*") {
                let path = self.name()?;
                self.at += 2;
                call.args.push(Expr::Column(format!("{path}{ALL}")));
            } else {
                call.args.push(self.expr()?);
            }
        }
        if self.is_keyword(0, "filter") && self.is_symbol(1, "(") {
            call = self.filtered(call)?;
        }
        if self.is_keyword(0, "over") {
            return self.window(call);
        }
        put_in_order(&mut call);
        Ok(told_otherwise(call))
    }

    /// `FILTER(WHERE condition)` behind an aggregate: of other rows it has no value.
    fn filtered(&mut self, mut call: Call) -> Result<Call, SqlError> {
        if !AGGREGATES.contains(&call.name.as_str()) {
            return Err(SqlError::semantic(format!(
                "FILTER needs an aggregate before it, not [{}]",
                call.name
            )));
        }
        self.at += 2;
        self.expect_keyword("where")?;
        let condition = self.expr()?;
        self.expect(")")?;
        if let Some(of) = call.args.first_mut() {
            let value = match std::mem::replace(of, Expr::Star) {
                Expr::Star => Expr::Literal(1.into()),
                other => other,
            };
            *of = Expr::call("case", vec![condition, value, Expr::Literal(Value::Null)]);
        }
        Ok(call)
    }

    fn option(&mut self) -> Result<Value, SqlError> {
        match self.sum()? {
            Expr::Literal(value) => Ok(value),
            Expr::Column(name) => Ok(name.into()),
            _ => Err(self.error("a value")),
        }
    }
}

/// `field = match_query('words')`, as OpenSearch's first SQL wrote it: the search in the field. Everything else is compared.
pub(crate) fn compared(op: Op, left: Expr, right: Expr) -> Expr {
    if let (Op::Equal, Expr::Column(_), Expr::Call(call)) = (op, &left, &right)
        && RELEVANCE.contains(&call.name.as_str())
        && call.args.len() == 1
    {
        let mut call = call.clone();
        call.args.insert(0, left);
        return Expr::Call(call);
    }
    binary(op, left, right)
}

/// A search whose arguments have names, `multi_match('query'='words', 'fields'='title^2,body')`, with them in their order.
fn put_in_order(call: &mut Call) {
    if !call.args.is_empty() || !RELEVANCE.contains(&call.name.as_str()) {
        return;
    }
    let mut taken = |names: [&str; 2]| {
        let mut options = call.options.iter();
        let at = options.position(|(have, _)| names.contains(&have.as_str()))?;
        Some(call.options.remove(at).1)
    };
    let (fields, query) = (taken(["fields", "field"]), taken(["query", "value"]));
    if let Some(Value::String(fields)) = fields {
        let names: Vec<Value> = fields.split(',').map(|name| name.trim().into()).collect();
        call.args.push(match <[Value; 1]>::try_from(names) {
            Ok([one]) => Expr::Literal(one),
            Err(names) => Expr::Literal(names.into()),
        });
    }
    call.args.extend(query.map(Expr::Literal));
}

/// A call as what it means: operators that have names, words that stand for themselves, histograms.
fn told_otherwise(mut call: Call) -> Expr {
    let op = match call.name.as_str() {
        "add" => Some(Op::Add),
        "subtract" => Some(Op::Subtract),
        "multiply" => Some(Op::Multiply),
        "divide" => Some(Op::Divide),
        "modulus" => Some(Op::Modulo),
        _ => None,
    };
    if let (Some(op), [left, right]) = (op, call.args.as_slice()) {
        return binary(op, left.clone(), right.clone());
    }
    if let Some(other) = boosted(&call).or_else(|| highlight::column(&call)) {
        return other;
    }
    if matches!(
        call.name.as_str(),
        "timestampadd" | "timestampdiff" | "get_format"
    ) && let Some(first) = call.args.first_mut()
        && let Expr::Column(word) = first
    {
        *first = Expr::Literal(std::mem::take(word).into());
    }
    histogram(call)
}

/// `score(search, boost)`: the search, whose score counts more or less.
fn boosted(call: &Call) -> Option<Expr> {
    let (Expr::Call(search), boost) = call.args.split_first()? else {
        return None;
    };
    let is_score = matches!(call.name.as_str(), "score" | "scorequery" | "score_query");
    if !is_score || !RELEVANCE.contains(&search.name.as_str()) {
        return None;
    }
    let mut search = search.clone();
    match boost {
        [] => {}
        [Expr::Literal(boost @ Value::Number(_))] => {
            search.options.retain(|(name, _)| name != "boost");
            search.options.push(("boost".to_string(), boost.clone()));
        }
        _ => return None,
    }
    Some(Expr::Call(search))
}

/// A histogram says the same as a span. The width of one over numbers may be written as a text.
fn histogram(mut call: Call) -> Expr {
    let is_of_numbers = call.name == "histogram";
    if is_of_numbers || call.name == "date_histogram" {
        let mut option = |name: &str| {
            let found = call.options.iter().position(|(have, _)| have == name);
            found.map(|at| call.options.remove(at).1)
        };
        if let Some(Value::String(field)) = option("field") {
            call.args.push(Expr::Column(field));
        }
        let interval = option("interval")
            .or(option("fixed_interval"))
            .or(option("calendar_interval"));
        call.args.extend(interval.map(Expr::Literal));
        if let (true, [_, Expr::Literal(width)]) = (is_of_numbers, &mut call.args[..])
            && let Some(number) = width.as_str().and_then(|text| text.trim().parse().ok())
        {
            *width = Value::Number(number);
        }
        call.name = "span".to_string();
    }
    Expr::Call(call)
}
