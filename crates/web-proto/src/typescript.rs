//! The TypeScript types of the widget. They are generated from this crate and compared with the committed
//! file.

use std::fmt::Write;

use ts_rs::{Config, TS};

use crate::*;

const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../widget/client/src/wire.ts");

/// `UPDATE=1 cargo test -p web-proto wire_types` writes the file.
#[test]
fn wire_types_are_as_committed() {
    let generated = file();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(COMMITTED, &generated).expect("the file can be written");
    }
    let committed = std::fs::read_to_string(COMMITTED).unwrap_or_default();
    assert!(
        committed == generated,
        "widget/client/src/wire.ts is out of date: run `UPDATE=1 cargo test -p web-proto wire_types`"
    );
}

fn file() -> String {
    let mut out = String::from(
        "// Generated from crates/web-proto by `UPDATE=1 cargo test -p web-proto wire_types`. Not edited by hand.\n",
    );
    let _ = write!(
        out,
        "\n/** The protocol version that `hello` carries. */\nexport const VERSION = {VERSION};\n"
    );
    declare::<Command<'_>>(&mut out);
    declare::<Hello<'_>>(&mut out);
    declare::<SendTo<'_>>(&mut out);
    declare::<ChangeProfile<'_>>(&mut out);
    declare::<Audience>(&mut out);
    declare::<Only>(&mut out);
    declare::<MarkerSet>(&mut out);
    declare::<SetPresence>(&mut out);
    declare::<ContactAction>(&mut out);
    declare::<CallAction<'_>>(&mut out);
    declare::<GroupAction<'_>>(&mut out);
    declare::<Media>(&mut out);
    declare::<RoomKind>(&mut out);
    declare::<Role>(&mut out);
    declare::<MemberAction>(&mut out);
    declare::<RequestAnswer>(&mut out);
    declare::<ReportReason>(&mut out);
    declare::<ReportState>(&mut out);
    declare::<Moderate<'_>>(&mut out);
    declare::<ModeratorAct>(&mut out);
    declare::<SiteRole>(&mut out);
    declare::<Level>(&mut out);
    declare::<PushSubscription<'_>>(&mut out);
    declare::<QuietHours>(&mut out);
    declare::<Event<'_>>(&mut out);
    declare::<Welcome<'_>>(&mut out);
    declare::<CallsFrom>(&mut out);
    declare::<Limits>(&mut out);
    declare::<MailDigest<'_>>(&mut out);
    declare::<Gap<'_>>(&mut out);
    declare::<Renamed<'_>>(&mut out);
    declare::<ThreadCount<'_>>(&mut out);
    declare::<Left<'_>>(&mut out);
    declare::<LeftReason>(&mut out);
    declare::<Conversation<'_>>(&mut out);
    declare::<RequestState>(&mut out);
    declare::<Report<'_>>(&mut out);
    declare::<ReportLine<'_>>(&mut out);
    declare::<FormerBody<'_>>(&mut out);
    declare::<AuditEntry<'_>>(&mut out);
    declare::<Notice<'_>>(&mut out);
    declare::<NoticeKind>(&mut out);
    declare::<Held<'_>>(&mut out);
    declare::<HeldState>(&mut out);
    declare::<SiteState<'_>>(&mut out);
    declare::<SiteAccess>(&mut out);
    declare::<FilterAct>(&mut out);
    declare::<FilterHit<'_>>(&mut out);
    declare::<FilterKind>(&mut out);
    declare::<Room<'_>>(&mut out);
    declare::<Nickname<'_>>(&mut out);
    declare::<Member<'_>>(&mut out);
    declare::<Listed<'_>>(&mut out);
    declare::<Link<'_>>(&mut out);
    declare::<Invitation<'_>>(&mut out);
    declare::<Message<'_>>(&mut out);
    declare::<Reaction<'_>>(&mut out);
    declare::<ReactionCount<'_>>(&mut out);
    declare::<PutReaction<'_>>(&mut out);
    declare::<PollCounts>(&mut out);
    declare::<Poll<'_>>(&mut out);
    declare::<Preview<'_>>(&mut out);
    declare::<Sticker<'_>>(&mut out);
    declare::<Choice<'_>>(&mut out);
    declare::<Forwarded<'_>>(&mut out);
    declare::<Replies>(&mut out);
    declare::<Thread<'_>>(&mut out);
    declare::<CallNews<'_>>(&mut out);
    declare::<CallOutcome>(&mut out);
    declare::<GroupNews<'_>>(&mut out);
    declare::<GroupCall<'_>>(&mut out);
    declare::<Participant<'_>>(&mut out);
    declare::<CallEntry>(&mut out);
    declare::<IceServer<'_>>(&mut out);
    declare::<File<'_>>(&mut out);
    declare::<Person<'_>>(&mut out);
    declare::<Presence>(&mut out);
    declare::<Profile<'_>>(&mut out);
    declare::<OwnProfile>(&mut out);
    declare::<Device<'_>>(&mut out);
    declare::<AppPassword<'_>>(&mut out);
    declare::<ExportedItem<'_>>(&mut out);
    declare::<Contact<'_>>(&mut out);
    declare::<ContactState>(&mut out);
    declare::<Code>(&mut out);
    codes(&mut out);
    answers(&mut out);
    out
}

/// The answers of each command, read from the test vectors, which cover all commands.
fn answers(out: &mut String) {
    let vectors: Vec<serde_json::Value> =
        serde_json::from_str(include_str!("../vectors/commands.json")).expect("the vectors are JSON");
    let mut by_command: Vec<(String, String)> = Vec::new();
    for vector in &vectors {
        let frame = vector["json"].to_string();
        let command = Command::parse(frame.as_bytes()).expect("a vector is a command");
        let kinds: Vec<String> = command.answered_by().iter().map(|kind| format!("\"{kind}\"")).collect();
        let name = vector["json"]["t"].as_str().expect("a command has a name").to_owned();
        let answer = if kinds.is_empty() { "never".to_owned() } else { kinds.join(" | ") };
        if by_command.iter().all(|(known, _)| *known != name) {
            by_command.push((name, answer));
        }
    }
    out.push_str("\n/** The events that answer each command, by their `t`; a refusal is an `error`. */\n");
    out.push_str("export interface Answers {\n");
    for (name, answer) in by_command {
        let _ = writeln!(out, "  {name}: {answer};");
    }
    out.push_str("}\n");
}

#[test]
fn every_command_has_its_answers_and_every_answer_is_an_event() {
    let config = Config::new();
    let names = |decl: String| -> std::collections::BTreeSet<String> {
        decl.split("\"t\": \"").skip(1).map(|rest| rest[..rest.find('"').unwrap_or(0)].to_owned()).collect()
    };
    let (commands, events) = (names(Command::decl(&config)), names(Event::decl(&config)));
    assert!(commands.len() > 50 && events.len() > 50, "{commands:?} {events:?}");
    let mut text = String::new();
    answers(&mut text);
    let lines = text.lines().filter_map(|line| line.strip_prefix("  ")?.strip_suffix(';')?.split_once(": "));
    let mut listed = std::collections::BTreeSet::new();
    for (command, kinds) in lines {
        listed.insert(command.to_owned());
        for kind in kinds.split(" | ").filter(|kind| *kind != "never") {
            assert!(
                events.contains(kind.trim_matches('"')),
                "{command} is answered by {kind}: no such event"
            );
        }
    }
    assert_eq!(listed, commands, "vectors/commands.json has each command");
}

fn declare<T: TS>(out: &mut String) {
    // Times, seqs and rids stay far below 2^53.
    let config = Config::new().with_large_int("number");
    out.push('\n');
    out.push_str(&one_line_comments(&T::docs().unwrap_or_default()));
    // `null` is accepted for an absent field, but never written.
    out.push_str("export ");
    out.push_str(&indented(&one_line_comments(&T::decl(&config).replace(" | null", ""))));
}

/// Writes three tables instead of one, so that a bundle keeps only the table that it reads.
fn codes(out: &mut String) {
    out.push_str("\n/** Whether and when a client comes back or tries again. */\n");
    out.push_str("export type Return = \"never\" | \"with_new_token\" | \"later\" | \"now\";\n");
    table(out, "What a client does after each code.", "COMES_BACK", "Return", |code| {
        format!("\"{}\"", code.comes_back().word())
    });
    table(out, "Status of an HTTP response with this code.", "HTTP_STATUS", "number", |code| {
        code.http_status().to_string()
    });
    table(out, "Code of the WebSocket close frame.", "CLOSE_CODE", "number", |code| {
        code.close_code().to_string()
    });
}

fn table(out: &mut String, means: &str, name: &str, of: &str, value: impl Fn(Code) -> String) {
    let _ = writeln!(out, "\n/** {means} */\nexport const {name} = {{");
    for &code in Code::ALL {
        let _ = writeln!(out, "  {}: {},", code.word(), value(code));
    }
    let _ = writeln!(out, "}} as const satisfies Record<Code, {of}>;");
}

/// `/**`, ` * text`, ` */` become `/** text */`.
fn one_line_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("/**") {
        let end = start + rest[start..].find("*/").expect("ts-rs closes its comments") + 2;
        let lines = rest[start + 3..end - 2].lines().map(|line| line.trim().trim_start_matches('*').trim());
        let words: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        let _ = write!(out, "{}/** {} */", &rest[..start], words.join(" "));
        rest = &rest[end..];
    }
    out + rest
}

/// One field, one comment, one variant per line. A union of words stays on its line.
fn indented(decl: &str) -> String {
    let (mut out, mut depth) = (String::new(), 0_usize);
    let mut rest = decl.trim();
    let is_union = rest.contains('{') && top_level(rest).contains('|');
    let outer = usize::from(is_union) * 2;
    if is_union {
        let (name, variants) = rest.split_once("= ").expect("a declaration has a right side");
        out = format!("{name}=\n  | ");
        rest = variants;
    }
    while let Some(c) = rest.chars().next() {
        let token = if rest.starts_with("/**") {
            &rest[..rest.find("*/").expect("comments are closed") + 2]
        } else if let Some(quoted) = rest.strip_prefix('"') {
            &rest[..quoted.find('"').expect("strings are closed") + 2]
        } else {
            &rest[..c.len_utf8()]
        };
        rest = &rest[token.len()..];
        match token {
            "{" | "(" => depth += 1,
            "}" | ")" => depth -= 1,
            _ => {}
        }
        match token {
            "{" => out.push('{'),
            "}" => {
                line(&mut out, depth + outer);
                out.push('}');
            }
            "," => out.push(';'),
            "|" if is_union && depth == 0 => {
                line(&mut out, 1);
                out.push('|');
            }
            key if depth > 0 && rest.starts_with(':') => out.push_str(key.trim_matches('"')),
            _ => out.push_str(token),
        }
        if token.starts_with("/**") || matches!(token, "{" | ",") {
            line(&mut out, depth + outer);
            rest = rest.trim_start();
        }
    }
    out.push('\n');
    out
}

/// The declaration, without the parts in braces.
fn top_level(decl: &str) -> String {
    let mut depth = 0;
    let outside = |c: &char| {
        depth += match c {
            '{' => 1,
            '}' => -1,
            _ => 0,
        };
        depth == 0
    };
    decl.chars().filter(outside).collect()
}

/// Begins a new line, or moves the current empty one.
fn line(out: &mut String, depth: usize) {
    out.truncate(out.trim_end().len());
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
}
