//! Runs `tests/scenarios/*.scn`: web and XMPP clients side by side in one script. `tests/scenarios/README.md` explains the language.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use xmpp_proto::xml::{Element, Limits, Tree, document};

use crate::scene::web_client::WebClient;
use crate::scene::xmpp_client::{Over, XmppClient};
use crate::scene::{OTHER, SITE, Scene};

#[test]
fn every_scenario_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios");
    let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut scripts: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "scn")).collect();
    scripts.sort();
    assert!(!scripts.is_empty());
    let failures: Vec<String> = scripts.iter().filter_map(|script| run(script).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn run(script: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(script).unwrap();
    let mut stage = Stage { scene: Scene::new(), clients: HashMap::new(), captured: HashMap::new() };
    for (line, step) in steps(&text) {
        let name = script.file_name().unwrap().to_string_lossy();
        stage.act(&step).map_err(|why| format!("{name}:{line}: {step}\n    {why}"))?;
    }
    Ok(())
}

/// A step is a line, and the indented lines behind it.
fn steps(text: &str) -> Vec<(usize, String)> {
    let mut steps: Vec<(usize, String)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        match line {
            _ if line.trim().is_empty() || line.starts_with('#') => {}
            _ if line.starts_with(' ') => {
                let (_, step) = steps.last_mut().expect("a script does not begin with an indented line");
                step.push(' ');
                step.push_str(line.trim());
            }
            _ => steps.push((number + 1, line.trim().to_owned())),
        }
    }
    steps
}

enum Client {
    Web(WebClient),
    Xmpp(Box<XmppClient>),
}

impl Client {
    fn xmpp(client: XmppClient) -> Client {
        Client::Xmpp(Box::new(client))
    }
}

struct Stage {
    scene: Scene,
    clients: HashMap<String, Client>,
    /// The values of placeholders.
    captured: HashMap<String, String>,
}

impl Stage {
    fn act(&mut self, step: &str) -> Result<(), String> {
        let (who, rest) = step.split_once(' ').ok_or("a step has at least two words")?;
        if step == "the sites federate" {
            [SITE, OTHER].into_iter().for_each(|site| self.scene.set(site, "federation.on", "true"));
            return Ok(());
        }
        if let Some(setting) = step.strip_prefix("the site sets ") {
            return self.set(SITE, setting);
        }
        if let Some(setting) = step.strip_prefix("the other site sets ") {
            return self.set(OTHER, setting);
        }
        if let Some(count) = step.strip_prefix("connections between servers: ") {
            let open = self.scene.connections_between();
            return if open.to_string() == count { Ok(()) } else { Err(format!("open: {open}")) };
        }
        if let Some(secret) = rest.strip_prefix("connects as a component with ") {
            let component = XmppClient::component(&mut self.scene, who, secret);
            self.clients.insert(who.to_owned(), Client::xmpp(component));
            return Ok(());
        }
        if step == "the site has message requests" {
            self.scene.set(SITE, "requests.on", "true");
            return Ok(());
        }
        if step == "the node stops" {
            self.scene.node.goodbye(0);
            self.scene.wait(Duration::from_millis(100));
            return Ok(());
        }
        if step == "the sessions move" {
            self.scene.sessions_move();
            return Ok(());
        }
        if who == "wait" {
            let milliseconds: u64 =
                rest.strip_suffix("ms").and_then(|rest| rest.parse().ok()).ok_or("as in: wait 500ms")?;
            self.scene.wait(Duration::from_millis(milliseconds));
            return Ok(());
        }
        if let Some(signs_in) = rest.strip_prefix("signs in with ") {
            return self.sign_in(who, signs_in);
        }
        if rest == "is a moderator" {
            self.scene.moderators.push(who.to_owned());
            return Ok(());
        }
        let mut client = self.clients.remove(who).ok_or_else(|| format!("{who} has not signed in"))?;
        let outcome = self.act_as(who, &mut client, rest);
        self.clients.insert(who.to_owned(), client);
        outcome
    }

    fn set(&self, site: &str, setting: &str) -> Result<(), String> {
        let (path, value) = setting.split_once(" to ").ok_or("as in: the site sets federation.on to true")?;
        self.scene.set(site, path, value);
        Ok(())
    }

    /// `anna signs in with the widget`, `anna/phone signs in with an app`.
    fn sign_in(&mut self, who: &str, with: &str) -> Result<(), String> {
        let (user, resource) = who.split_once('/').unwrap_or((who, ""));
        let client = match with {
            with if with.starts_with("an app over TLS by ") => {
                let password = self.filled(with.trim_start_matches("an app over TLS by "));
                Client::xmpp(XmppClient::sign_in_with_tls(&mut self.scene, user, resource, &password))
            }
            "the widget" => Client::Web(WebClient::sign_in(&mut self.scene, user)),
            "an app at the other site" => {
                Client::xmpp(XmppClient::sign_in_elsewhere(&mut self.scene, user, resource))
            }
            "an app" => Client::xmpp(XmppClient::sign_in(&mut self.scene, user, resource)),
            with if with.starts_with("an app by SASL2 with ") => {
                let inline = self.filled(with.trim_start_matches("an app by SASL2 with "));
                Client::xmpp(XmppClient::authenticate2(&mut self.scene, Over::Tcp, user, &inline))
            }
            with if with.starts_with("an app by SASL2 and ") => {
                let with = self.filled(with.trim_start_matches("an app by SASL2 and "));
                let (password, inline) = with.split_once(" with ").ok_or("as in: and {password} with XML")?;
                let over = Over::Tcp;
                Client::xmpp(XmppClient::authenticate2_by(&mut self.scene, over, user, password, inline))
            }
            with if with.starts_with("an app by the token ") => {
                let with = self.filled(with.trim_start_matches("an app by the token "));
                let (token, inline) = with.split_once(" with ").ok_or("as in: the token {token} with XML")?;
                Client::xmpp(XmppClient::authenticate_by_token(&mut self.scene, user, token, inline))
            }
            "an app over WebSocket" => {
                Client::xmpp(XmppClient::sign_in_over(&mut self.scene, Over::WebSocket, user, resource))
            }
            "an app over BOSH" => {
                Client::xmpp(XmppClient::sign_in_over(&mut self.scene, Over::Bosh, user, resource))
            }
            _ => return Err("with `the widget` or `an app`, over WebSocket or BOSH".into()),
        };
        self.clients.insert(who.to_owned(), client);
        Ok(())
    }

    fn act_as(&mut self, who: &str, client: &mut Client, rest: &str) -> Result<(), String> {
        let (verb, text) = rest.split_once(' ').unwrap_or((rest, ""));
        match (verb, client) {
            ("sends", client) => {
                let text = self.filled(text);
                match client {
                    Client::Web(web) => web.send(&mut self.scene, &text),
                    Client::Xmpp(app) => app.send(&mut self.scene, &text),
                }
            }
            ("uploads", Client::Web(_)) => {
                let (name, user) = text.split_once(" for ").ok_or("as in: anna uploads cat.txt for tom")?;
                let by = who.split('/').next().unwrap_or_default();
                let id = self.scene.upload(by, name, user);
                self.captured.insert("file".into(), id);
            }
            ("uploads", Client::Xmpp(_)) => {
                let url = self.filled(text.strip_prefix("to ").ok_or("as in: tom uploads to {get}")?);
                self.scene.upload_to(&url);
            }
            ("disconnects", Client::Web(web)) => web.disconnect(&mut self.scene),
            ("disconnects", Client::Xmpp(app)) => app.disconnect(&mut self.scene),
            ("resumes", Client::Xmpp(app)) => {
                let text = self.filled(text);
                let (previd, h) = text.split_once(" after ").ok_or("as in: resumes {stream} after 3")?;
                **app = app.resume(&mut self.scene, previd, h);
            }
            ("misses", Client::Xmpp(app)) => {
                let user = who.split('/').next().unwrap_or_default();
                self.scene.misses_events(user, app.handle);
            }
            ("catches", Client::Xmpp(app)) => self.scene.is_told_to_catch_up(app.handle),
            ("receives", Client::Web(web)) => return self.web_receives(web, text),
            ("receives", Client::Xmpp(app)) => return self.app_receives(app, text),
            _ => return Err("sends, receives, resumes, disconnects, misses events or catches up".into()),
        }
        Ok(())
    }

    /// Puts captured values in the place of `{name}`.
    fn filled(&self, text: &str) -> String {
        let fill =
            |text: String, (name, value): (&String, &String)| text.replace(&format!("{{{name}}}"), value);
        self.captured.iter().fold(text.to_owned(), fill)
    }

    fn web_receives(&mut self, web: &mut WebClient, text: &str) -> Result<(), String> {
        web.read(&mut self.scene);
        let (text, wanted) = wanted(text);
        let pattern: Value = serde_json::from_str(&self.filled(text)).map_err(|error| error.to_string())?;
        let mut captured = self.captured.clone();
        let found = web.received.iter().position(|event| {
            let mut trial = captured.clone();
            let fits = is_json_like(&pattern, event, &mut trial);
            if fits {
                captured = trial;
            }
            fits
        });
        match (found, wanted) {
            (Some(at), Wanted::Once) => {
                web.received.remove(at);
                self.captured = captured;
                Ok(())
            }
            (None, Wanted::Never) => Ok(()),
            _ => Err(format!("received: {}", Value::from(web.received.clone()))),
        }
    }

    fn app_receives(&mut self, app: &mut XmppClient, text: &str) -> Result<(), String> {
        app.read(&mut self.scene);
        let (text, wanted) = wanted(text);
        if text == "the end of the stream" {
            return if app.is_over == (wanted == Wanted::Once) { Ok(()) } else { Err("it goes on".into()) };
        }
        let pattern = parse(&self.filled(text), app.namespace)?;
        let mut captured = self.captured.clone();
        let found = app.received.iter().position(|tree| {
            let mut trial = captured.clone();
            let fits = is_xml_like(pattern.root(), tree.root(), &mut trial);
            if fits {
                captured = trial;
            }
            fits
        });
        match (found, wanted) {
            (Some(at), Wanted::Once) => {
                app.received.remove(at);
                self.captured = captured;
                Ok(())
            }
            (None, Wanted::Never) => Ok(()),
            _ => Err(format!("received: {}", written(&app.received))),
        }
    }
}

#[derive(PartialEq, Eq)]
enum Wanted {
    Once,
    Never,
}

/// `receives no …`.
fn wanted(text: &str) -> (&str, Wanted) {
    text.strip_prefix("no ").map_or((text, Wanted::Once), |text| (text, Wanted::Never))
}

/// Stanzas of scripts leave out their namespace.
fn parse(xml: &str, namespace: &str) -> Result<Tree, String> {
    let end = xml.find([' ', '/', '>']).ok_or("no element")?;
    let xml = match xml.contains("xmlns=") && xml[..xml.find('>').unwrap_or(end)].contains("xmlns=") {
        true => xml.to_owned(),
        false => format!(
            "{} xmlns='{namespace}' xmlns:stream='http://etherx.jabber.org/streams'{}",
            &xml[..end],
            &xml[end..]
        ),
    };
    document(xml.as_bytes(), &Limits::default()).map_err(|error| format!("{xml}: {error}"))
}

/// Attributes and children of the pattern are in the element; it may have more.
fn is_xml_like(pattern: Element<'_>, element: Element<'_>, captured: &mut HashMap<String, String>) -> bool {
    let attributes = [
        "from",
        "to",
        "id",
        "type",
        "jid",
        "name",
        "subscription",
        "ask",
        "var",
        "by",
        "node",
        "h",
        "affiliation",
        "role",
        "code",
        "nick",
        "category",
        "stamp",
        "queryid",
        "complete",
        "resume",
        "previd",
        "max",
        "approved",
        "ver",
        "url",
        "token",
        "seconds",
        "status",
        "sessionid",
        "label",
        "execute",
        "default",
        "action",
        "sid",
        "senders",
        "media",
        "clockrate",
        "host",
        "port",
        "transport",
        "username",
        "password",
        "ufrag",
    ];
    pattern.is(element.name(), element.ns())
        && attributes.iter().all(|name| match pattern.attr(name) {
            Some(wanted) => element.attr(name).is_some_and(|value| is_text_like(wanted, value, captured)),
            None => true,
        })
        && (pattern.text().trim().is_empty()
            || is_text_like(pattern.text().trim(), element.text().trim(), captured))
        && pattern
            .children()
            .all(|wanted| element.children().any(|child| is_xml_like(wanted, child, captured)))
}

fn is_json_like(pattern: &Value, value: &Value, captured: &mut HashMap<String, String>) -> bool {
    match (pattern, value) {
        (Value::Object(pattern), Value::Object(value)) => pattern
            .iter()
            .all(|(key, wanted)| value.get(key).is_some_and(|value| is_json_like(wanted, value, captured))),
        (Value::Array(pattern), Value::Array(value)) => {
            pattern.iter().all(|wanted| value.iter().any(|value| is_json_like(wanted, value, captured)))
        }
        (Value::String(wanted), Value::String(value)) => is_text_like(wanted, value, captured),
        (pattern, value) => pattern == value,
    }
}

/// `{any}` fits every text; `{name}` fits every text the first time, and then the same one.
fn is_text_like(wanted: &str, value: &str, captured: &mut HashMap<String, String>) -> bool {
    match wanted.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
        Some("any") => true,
        Some(name) => captured.entry(name.to_owned()).or_insert_with(|| value.to_owned()) == value,
        None => wanted == value,
    }
}

fn written(trees: &[Tree]) -> String {
    let mut out = Vec::new();
    for tree in trees {
        out.extend_from_slice(b"\n      ");
        tree.root().write(&mut out, "jabber:client");
    }
    String::from_utf8(out).unwrap()
}
