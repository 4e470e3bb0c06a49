//! Statements must run on two engines. Words that only SQLite knows, and parameters of another form than `$1`, are
//! allowed only in `dialect.rs`. The test reads the sources, because a statement that only SQLite understands works
//! here.

use std::fs;
use std::path::{Path, PathBuf};

/// The only file that may use SQLite's words.
const DIALECT: &str = "dialect.rs";

/// Words that must not stand in a string of a file, except as a part of a longer word.
const ONLY_SQLITE: [&str; 40] = [
    "or replace",
    "or ignore",
    "or abort",
    "or fail",
    "indexed by",
    "not indexed",
    "cross join",
    "pragma",
    "rowid",
    "begin immediate",
    "begin exclusive",
    "sqlite_schema",
    "sqlite_master",
    "last_insert_rowid",
    "total_changes",
    "changes()",
    "without rowid",
    "autoincrement",
    "vacuum",
    "attach",
    "glob",
    "match",
    "like",
    "collate",
    "fts5",
    "ifnull",
    "iif",
    "unixepoch",
    "julianday",
    "strftime",
    "datetime",
    "json_each",
    "json_extract",
    "group_concat",
    "instr",
    "printf",
    "zeroblob",
    "randomblob",
    "typeof",
    "limit -1",
];

/// Calls of SQLite's own functions that must not stand in code.
const ONLY_SQLITE_CALLS: [&str; 4] =
    ["pragma_update(", "pragma_query", "last_insert_rowid(", "total_changes("];

#[test]
fn only_the_dialect_file_uses_sqlites_words() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = rust_files(&sources);
    assert!(files.len() > 50 && files.contains(&sources.join(DIALECT)), "{} files", files.len());
    let mut found = Vec::new();
    let mut statements = 0;
    for file in files.iter().filter(|file| !file.ends_with(DIALECT)) {
        let source = fs::read_to_string(file).expect("a source");
        let name = file.strip_prefix(&sources).expect("one of them").display().to_string();
        let texts = texts(&source);
        statements += texts.iter().filter(|text| is_statement(text)).count();
        found.extend(offences(&source, &texts).into_iter().map(|word| format!("{name}: {word}")));
    }
    assert!(found.is_empty(), "only {DIALECT} may: {found:#?}");
    assert!(statements > 300, "{statements} statements are too few: are they still found?");
}

#[test]
fn each_offence_is_found() {
    let offences = |source: &str| offences(source, &texts(source));
    for source in [
        r#"let sql = sql!("INSERT OR REPLACE INTO a VALUES ($1)");"#,
        r#"let sql = "SELECT max(key) + 1 FROM a";"#,
        r#"let sql = "SELECT coalesce(max(number), 0) + 1 FROM a";"#,
        r#"let sql = "SELECT max(key)+1 FROM a";"#,
        r#"let sql = "SELECT a FROM b WHERE c = ?1";"#,
        r#"let sql = "SELECT a FROM b WHERE c = ?";"#,
        r#"let sql = "UPDATE a SET b = max(b, $1)";"#,
        r#"let sql = "UPDATE a SET b = min(b, $1)";"#,
        "let sql = \"SELECT a \\\n    FROM b INDEXED BY c\";",
        r#"let sql = "INSERT INTO a VALUES (1) ON CONFLICT DO UPDATE SET b = 2";"#,
        r#"let sql = "SELECT a FROM b WHERE c = $1";"#,
        r#"db.pragma_update(None, "a", 1)?;"#,
        r#"let id = db.last_insert_rowid();"#,
    ] {
        assert_ne!(offences(source), Vec::<String>::new(), "{source}");
    }
    for source in [
        r#"let sql = sql!("SELECT max(seq) FROM a WHERE b = $1 AND c LIKELY");"#,
        r#"let sql = sql!(concat!("SELECT a FROM b", indexed_by!("c"), " WHERE d = $1"));"#,
        r#"// the rowid of a PRAGMA"#,
        r#"let text = "What is a match?";"#,
        "#[cfg(test)]\nmod tests { const A: &str = \"SELECT rowid FROM a\"; }",
    ] {
        assert_eq!(offences(source), Vec::<String>::new(), "{source}");
    }
}

fn is_statement(text: &str) -> bool {
    let begins = ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "BEGIN", "PRAGMA", "WITH ", "CREATE ", "DROP "];
    begins.iter().any(|word| text.trim_start().starts_with(word))
        || text.contains(" WHERE ")
        || text.contains(" FROM ")
}

fn offences(source: &str, texts: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for text in texts.iter().filter(|text| is_statement(text)) {
        let lower = text.to_lowercase();
        found.extend(ONLY_SQLITE.iter().filter(|word| has_word(&lower, word)).map(|word| (*word).to_owned()));
        let joined: String = lower.split_whitespace().collect();
        for (name, is_there) in [
            ("a parameter ?", text.contains('?')),
            ("a key from the greatest one", joined.contains("),0)+1") || is_max_plus_one(&joined)),
            ("max or min of two values", has_two_values(&joined)),
            ("DO UPDATE without its columns", joined.contains("onconflictdoupdate")),
        ] {
            found.extend(is_there.then(|| format!("{name}: {text}")));
        }
    }
    let code = code_of(source);
    found
        .extend(ONLY_SQLITE_CALLS.iter().filter(|call| code.contains(**call)).map(|call| (*call).to_owned()));
    found.extend(unwrapped(&code));
    found
}

/// Statements with a parameter that do not pass through `sql!`.
fn unwrapped(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices('"') {
        let is_begin = code[..at].matches('"').count().is_multiple_of(2);
        let Some(end) = code[at + 1..].find('"').filter(|_| is_begin) else { continue };
        let text = &code[at + 1..][..end];
        let has_parameter = text
            .match_indices('$')
            .any(|(dollar, _)| text[dollar + 1..].starts_with(|c: char| c.is_ascii_digit()));
        if has_parameter && !is_inside_macro(&code[..at]) {
            found.push(format!("not in sql!: {text}"));
        }
    }
    found
}

/// Whether the open parenthesis before the text belongs to `sql!`, or to a macro of the file that expands to it.
fn is_inside_macro(before: &str) -> bool {
    let mut depth = 0;
    for (at, c) in before.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' if depth > 0 => depth -= 1,
            '(' if before[..at].ends_with("sql!") || before[..at].ends_with("pending!") => return true,
            ';' | '{' | '}' => return false,
            _ => {}
        }
    }
    false
}

fn is_max_plus_one(joined: &str) -> bool {
    joined
        .match_indices("max(")
        .any(|(at, _)| joined[at..].split_once(')').is_some_and(|(_, rest)| rest.starts_with("+1")))
}

/// A comma inside the parentheses of `max` or `min`.
fn has_two_values(joined: &str) -> bool {
    ["max(", "min("].iter().any(|name| {
        joined.match_indices(name).any(|(at, _)| {
            let is_word = joined[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '_');
            let inside = joined[at + name.len()..].split_once(')').map_or("", |(inside, _)| inside);
            is_word && inside.contains(',')
        })
    })
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !is_part(text[..at].chars().next_back()) && !is_part(text[at + word.len()..].chars().next())
    })
}

/// A source without its comments and unit tests, but with its strings.
fn code_of(source: &str) -> String {
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let mut code = String::new();
    let mut chars = source.chars().peekable();
    let (mut in_text, mut in_comment) = (false, false);
    while let Some(c) = chars.next() {
        match c {
            '\n' if in_comment => in_comment = false,
            _ if in_comment => continue,
            // A string continues on the next line without its indentation.
            '\\' if in_text && chars.peek() == Some(&'\n') => {
                while chars.next_if(|c| c.is_whitespace()).is_some() {}
                continue;
            }
            '\\' if in_text => {
                chars.next();
                continue;
            }
            '\'' if !in_text && chars.peek() == Some(&'"') => {
                chars.next();
                continue;
            }
            '"' => in_text = !in_text,
            '/' if !in_text && chars.peek() == Some(&'/') => {
                in_comment = true;
                continue;
            }
            _ => {}
        }
        code.push(c);
    }
    code
}

fn texts(source: &str) -> Vec<String> {
    code_of(source).split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
    files
}
