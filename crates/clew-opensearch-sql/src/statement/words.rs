//! Walks over the words of a statement: what comes next, and what must.

use serde_json::Value;

use crate::error::SqlError;
use crate::statement::lex::{Token, TokenKind, tokens};
use crate::statement::plan::{Subquery, Window};

/// A statement may be as long as this.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// Names of indexes with dashes that columns may have before them.
const DASHED_MAX: usize = 20;

/// Words that end a list of names without a comma.
const CLAUSES: &[&str] = &[
    "from",
    "where",
    "group",
    "having",
    "order",
    "limit",
    "offset",
    "union",
    "minus",
    "intersect",
    "except",
    "join",
    "inner",
    "left",
    "right",
    "full",
    "cross",
    "on",
    "as",
    "asc",
    "desc",
    "nulls",
    "and",
    "or",
    "not",
    "in",
    "like",
    "between",
    "is",
    "by",
    "over",
    "when",
    "then",
    "else",
    "end",
];

/// A statement that is being read.
pub(crate) struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    /// The next word.
    pub(crate) at: usize,
    /// How deep inside of expressions it is.
    pub(crate) depth: usize,
    /// Operators of arithmetic so far.
    pub(crate) operators: usize,
    /// Parts of expressions so far that stand once more than they were written.
    pub(crate) copies: usize,
    /// What stands for the question marks that are still to come, last first.
    pub(crate) parameters: Vec<Value>,
    /// Functions over windows so far, which expressions name by their columns.
    pub(crate) windows: Vec<Window>,
    /// What is done before the statement, so far; conditions name it likewise.
    pub(crate) subqueries: Vec<Subquery>,
    /// What may stand before the columns of the SELECT that is being read.
    pub(crate) around: Vec<String>,
}

impl<'t> Parser<'t> {
    pub(crate) fn new(text: &'t str, mut parameters: Vec<Value>) -> Result<Self, SqlError> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(SqlError::too_large(format!(
                "the query has {} bytes, more than {TEXT_BYTES_MAX}",
                text.len()
            )));
        }
        parameters.reverse();
        let mut tokens = tokens(text)?;
        join_dashed(text, &mut tokens);
        Ok(Parser {
            text,
            tokens,
            at: 0,
            depth: 0,
            operators: 0,
            copies: 0,
            parameters,
            windows: Vec::new(),
            subqueries: Vec::new(),
            around: Vec::new(),
        })
    }

    pub(crate) fn peek(&self) -> Option<&TokenKind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    pub(crate) fn peek_at(&self, ahead: usize) -> Option<&TokenKind> {
        self.tokens.get(self.at + ahead).map(|token| &token.kind)
    }

    pub(crate) fn is_done(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// Where the next word stands.
    pub(crate) fn position(&self) -> usize {
        self.tokens
            .get(self.at)
            .map_or(self.text.len(), |token| token.start)
    }

    /// What was written between a position and the last word that was read.
    pub(crate) fn written_since(&self, start: usize) -> &'t str {
        let end = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        let end = end.map_or(start, |token| token.end);
        self.text.get(start..end).unwrap_or_default()
    }

    /// The next word must not stand here.
    pub(crate) fn error(&self, wanted: &str) -> SqlError {
        let (symbol, at) = match self.tokens.get(self.at) {
            Some(token) => (
                self.text.get(token.start..token.end).unwrap_or_default(),
                token.start,
            ),
            None => ("<EOF>", self.text.len()),
        };
        SqlError::syntax(self.text, at, symbol, wanted)
    }

    pub(crate) fn is_keyword(&self, ahead: usize, keyword: &str) -> bool {
        matches!(self.peek_at(ahead), Some(TokenKind::Word(word)) if word.eq_ignore_ascii_case(keyword))
    }

    pub(crate) fn keyword(&mut self, keyword: &str) -> bool {
        let is = self.is_keyword(0, keyword);
        self.at += usize::from(is);
        is
    }

    /// Several keywords in a row, or none of them.
    pub(crate) fn keywords(&mut self, keywords: &[&str]) -> bool {
        let all = keywords
            .iter()
            .enumerate()
            .all(|(ahead, word)| self.is_keyword(ahead, word));
        self.at += if all { keywords.len() } else { 0 };
        all
    }

    pub(crate) fn expect_keyword(&mut self, keyword: &str) -> Result<(), SqlError> {
        if self.keyword(keyword) {
            return Ok(());
        }
        Err(self.error(&keyword.to_ascii_uppercase()))
    }

    pub(crate) fn is_symbol(&self, ahead: usize, symbol: &str) -> bool {
        matches!(self.peek_at(ahead), Some(TokenKind::Symbol(have)) if *have == symbol)
    }

    pub(crate) fn symbol(&mut self, symbol: &str) -> bool {
        let is = self.is_symbol(0, symbol);
        self.at += usize::from(is);
        is
    }

    pub(crate) fn expect(&mut self, symbol: &str) -> Result<(), SqlError> {
        if self.symbol(symbol) {
            return Ok(());
        }
        Err(self.error(&format!("'{symbol}'")))
    }

    /// A name, in backticks or not.
    pub(crate) fn name(&mut self) -> Result<String, SqlError> {
        let name = match self.peek() {
            Some(TokenKind::Name(name)) => name.clone(),
            Some(TokenKind::Word(word)) if !is_clause(word) => word.clone(),
            _ => return Err(self.error("a name")),
        };
        self.at += 1;
        Ok(name)
    }

    /// The name that something is given: `AS name`, or a name that follows.
    pub(crate) fn alias(&mut self) -> Result<Option<String>, SqlError> {
        let is_given = self.keyword("as");
        match self.peek() {
            Some(TokenKind::Text(text)) => {
                let text = text.clone();
                self.at += 1;
                Ok(Some(text))
            }
            Some(TokenKind::Name(_)) => self.name().map(Some),
            Some(TokenKind::Word(word)) if is_given || !is_clause(word) => self.name().map(Some),
            _ if is_given => Err(self.error("a name")),
            _ => Ok(None),
        }
    }

    /// An expression of indexes, which is read as it was written: dashes, stars and dots belong to it.
    pub(crate) fn indices(&mut self, commas: bool) -> Result<String, SqlError> {
        if let Some(TokenKind::Name(name) | TokenKind::Text(name)) = self.peek() {
            let name = name.clone();
            self.at += 1;
            return Ok(name);
        }
        let start = self.position();
        let rest = self.text.get(start..).unwrap_or_default();
        let is_part = |c: char| {
            !c.is_whitespace()
                && !matches!(c, '|' | '(' | ')' | '[' | ']' | ';' | '\'' | '"' | '`')
                && (commas || c != ',')
        };
        let end = start + rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        if end == start {
            return Err(self.error("the name of an index"));
        }
        while self
            .tokens
            .get(self.at)
            .is_some_and(|token| token.start < end)
        {
            self.at += 1;
        }
        Ok(self.text.get(start..end).unwrap_or_default().to_string())
    }

    pub(crate) fn text(&mut self) -> Result<String, SqlError> {
        let Some(TokenKind::Text(text)) = self.peek() else {
            return Err(self.error("a text in quotes"));
        };
        let text = text.clone();
        self.at += 1;
        Ok(text)
    }

    /// A whole number.
    pub(crate) fn count(&mut self) -> Result<usize, SqlError> {
        let count = match self.peek() {
            Some(TokenKind::Number(digits)) => digits.parse().ok(),
            _ => None,
        };
        let count = count.ok_or_else(|| self.error("a whole number"))?;
        self.at += 1;
        Ok(count)
    }

    /// Whether a whole number comes next.
    pub(crate) fn is_count(&self) -> bool {
        matches!(self.peek(), Some(TokenKind::Number(_)))
    }

    pub(crate) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, SqlError>,
    ) -> Result<Vec<T>, SqlError> {
        let mut items = vec![item(self)?];
        while self.symbol(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }
}

/// Makes one word of a column and the name of its index before it, where that has dashes: `logs-web.status`.
fn join_dashed(text: &str, tokens: &mut Vec<Token>) {
    let names = dashed(text, tokens);
    if names.is_empty() {
        return;
    }
    let mut at = 0;
    let mut joined = Vec::with_capacity(tokens.len());
    while let Some(token) = tokens.get(at) {
        let is_word = matches!(token.kind, TokenKind::Word(_));
        let end = names
            .iter()
            .filter(|_| is_word)
            .find_map(|name| end_of_column(text, token.start, name));
        let behind = tokens.iter().skip(at);
        let length = end.and_then(|end| {
            let mut within = behind.take_while(|token| token.end <= end);
            within.position(|token| token.end == end)
        });
        let (Some(end), Some(length)) = (end, length) else {
            joined.push(token.clone());
            at += 1;
            continue;
        };
        let word = text.get(token.start..end).unwrap_or_default();
        joined.push(Token {
            kind: TokenKind::Word(word.to_string()),
            start: token.start,
            end,
        });
        at += length + 1;
    }
    *tokens = joined;
}

/// The names with dashes that stand behind `FROM` and `JOIN`.
fn dashed<'t>(text: &'t str, tokens: &[Token]) -> Vec<&'t str> {
    let is_from = |token: &Token| {
        let TokenKind::Word(word) = &token.kind else {
            return false;
        };
        word.eq_ignore_ascii_case("from") || word.eq_ignore_ascii_case("join")
    };
    let pairs = tokens.iter().zip(tokens.iter().skip(1));
    let behind = pairs.filter(|(from, _)| is_from(from));
    let names = behind.filter_map(|(_, token)| {
        let rest = text.get(token.start..)?;
        let end = rest.find(|c: char| !is_of_index(c)).unwrap_or(rest.len());
        rest.get(..end).filter(|name| name.contains('-'))
    });
    names.take(DASHED_MAX).collect()
}

/// Where a column ends that begins with the name of an index and a dot, if one stands at a place.
fn end_of_column(text: &str, start: usize, index: &str) -> Option<usize> {
    let column = text.get(start..)?.strip_prefix(index)?.strip_prefix('.')?;
    let length = column.find(|c: char| !is_of_index(c) || c == '-');
    let length = length.unwrap_or(column.len());
    (length > 0).then_some(start + index.len() + 1 + length)
}

fn is_of_index(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '.' | '@' | '$')
}

pub(crate) fn is_clause(word: &str) -> bool {
    CLAUSES
        .iter()
        .any(|clause| word.eq_ignore_ascii_case(clause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_may_have_names_with_dashes_before_them() {
        for (text, expected) in [
            (
                "SELECT a-b.c, a-b FROM a-b WHERE a-b.d-1 > 2",
                "SELECT|a-b.c|,|a|-|b|FROM|a|-|b|WHERE|a-b.d|-|1|>|2",
            ),
            (
                "SELECT a-b.c FROM x JOIN a-b-2024 ON a-b-2024.d.e = x.f",
                "SELECT|a|-|b.c|FROM|x|JOIN|a|-|b|-|2024|ON|a-b-2024.d.e|=|x.f",
            ),
            ("SELECT a-b.c FROM x", "SELECT|a|-|b.c|FROM|x"),
        ] {
            let parser = Parser::new(text, Vec::new()).expect("words");
            let words = parser.tokens.iter();
            let words: Vec<&str> = words.map(|word| &text[word.start..word.end]).collect();
            assert_eq!(words.join("|"), expected);
        }
    }
}
