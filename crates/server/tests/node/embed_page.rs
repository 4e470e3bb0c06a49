//! Runs the token endpoints of `docs/embed.md` as printed, in the languages that this machine has.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::client::Client;
use crate::running::{Running, Scratch, text};

const PAGE: &str = include_str!("../../../../docs/embed.md");

/// How to run the example of one language: a stub of the site around it, and a caller.
struct Example {
    heading: &'static str,
    program: &'static str,
    file: &'static str,
    before: &'static str,
    after: &'static str,
}

/// A member whose name needs more than ASCII. Each example prints the token, or its endpoint's answer.
const EXAMPLES: [Example; 4] = [
    Example {
        heading: "### Node",
        program: "node",
        file: "endpoint.mjs",
        before: "globalThis.app = { post: (path, handler) => { globalThis.handler = handler; } };\n",
        after: "
            const response = { set() { return this; }, json: answer => console.log(JSON.stringify(answer)) };
            globalThis.handler({ session: { member: { id: 42, name: 'Zoë 🌱', avatar: '/zoe.png' } } }, response);",
    },
    Example {
        heading: "### PHP",
        program: "php",
        file: "endpoint.php",
        before: "",
        after: "",
    },
    Example {
        heading: "### Python",
        program: "python3",
        file: "endpoint.py",
        before: "
class app:
    post = staticmethod(lambda path: lambda handler: handler)
class current_user:
    id, name, is_authenticated = 42, 'Zoë 🌱', True
",
        after: "print(json.dumps(token()[0]))",
    },
    Example {
        heading: "### Ruby",
        program: "ruby",
        file: "endpoint.rb",
        before: "
def post(path, &handler) = $handler = handler
def current_member = Struct.new(:id, :name).new(42, 'Zoë 🌱')
def content_type(_) = nil
def headers(_) = nil
",
        after: "puts $handler.call",
    },
];

/// PHP's example opens a session; this is its content.
const PHP_SESSION: &str = "<?php
    ini_set('session.use_cookies', '0'); ini_set('session.save_path', __DIR__); session_id('test');
    session_start(); $_SESSION['member'] = ['id' => 42, 'name' => 'Zoë 🌱']; session_write_close();";

#[test]
fn every_example_signs_a_token_that_signs_its_member_in() {
    let scratch = Scratch::new("embed-page");
    let node = Running::start(&scratch, "serve", &[]);
    let data = scratch.data().display().to_string();
    let added = scratch.say(&format!("site add demo --origin https://garden.example --json --data {data}"));
    let added: serde_json::Value = serde_json::from_str(&added).unwrap();
    let secret = added["secret"].as_str().unwrap();
    crate::running::poll("the site", || (node.metric("kith_chat_sites") > 0.0).then_some(()));
    let mut run = Vec::new();
    for example in &EXAMPLES {
        if Command::new(example.program).arg("--version").stdout(Stdio::null()).status().is_err() {
            continue;
        }
        let token = example.token(scratch.path(), secret);
        let client = Client::try_enter(node.http, &token, example.program, None)
            .unwrap_or_else(|| panic!("{} is not let in", example.heading));
        let me = &client.welcome["me"];
        assert_eq!((&me["user"], &me["name"]), (&"42".into(), &"Zoë 🌱".into()), "{}", example.heading);
        run.push(example.program);
    }
    assert!(run.contains(&"node"), "Node is needed for the widget anyway: {run:?}");
}

impl Example {
    fn token(&self, directory: &Path, secret: &str) -> String {
        let code = PAGE.split_once(self.heading).unwrap().1.split("```").nth(1).unwrap();
        let code = code.split_once('\n').unwrap().1;
        let file = directory.join(self.file);
        fs::write(&file, format!("{}{code}{}", self.before, self.after)).unwrap();
        let mut command = Command::new(self.program);
        if self.program == "php" {
            let session = directory.join("session.php");
            fs::write(&session, PHP_SESSION).unwrap();
            command.arg("-d").arg(format!("auto_prepend_file={}", session.display()));
        }
        // Ruby reads its source as UTF-8 in every locale; its output must be UTF-8, too.
        let output = command.arg(&file).env("KITH_SECRET", secret).env("LC_ALL", "C.UTF-8").output().unwrap();
        let said = text(&output.stdout);
        assert!(output.status.success(), "{}: {}", self.heading, text(&output.stderr));
        let answer: serde_json::Value =
            serde_json::from_str(said.trim()).unwrap_or_else(|_| panic!("{}: {said}", self.heading));
        answer["token"].as_str().unwrap().to_owned()
    }
}
