// Writes docs/reference/ from the code: `node scripts/reference.mjs`. With `--check` it fails and lists outdated pages.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = new URL('..', import.meta.url);
const read = path => readFileSync(new URL(path, ROOT), 'utf8');
const NOTICE = '<!-- Written by `node scripts/reference.mjs` from the code. Not edited by hand. -->\n';

/** The up-to-date pages, by path. */
export function pages() {
  return new Map([
    ['docs/reference/messages.md', messages()],
    ['docs/reference/rest.md', rest()],
    ['docs/reference/settings.md', settings()],
  ]);
}

/** Commands and events, from the widget's types (generated from `crates/web-proto`) and the crate's comments. */
function messages() {
  const types = declared(read('widget/client/src/wire.ts'));
  const out = [
    NOTICE,
    '# Commands and events\n',
    'Look up a frame of the protocol here as a TypeScript type; a field with `?` may be left out. [The protocol](../protocol.md) has the rules, and',
    '`widget/client/src/wire.ts` the same types.\n',
  ];
  for (const [heading, name, file] of [
    ['Commands', 'Command', 'command'],
    ['Events', 'Event', 'event'],
  ]) {
    const about = variants(read(`crates/web-proto/src/${file}.rs`), name);
    out.push(`## ${heading}\n`, `${types.get(name).about}\n`);
    for (const body of types.get(name).union) {
      const t = /\bt: "(\w+)"/.exec(body)[1];
      if (!about.has(t)) throw new Error(`${file}.rs has no variant for ${t}`);
      out.push(`### \`${t}\`\n`, ...(about.get(t) ? [`${about.get(t)}\n`] : []), `${block(body)}\n`);
    }
  }
  out.push('## Their parts\n');
  for (const [name, { about, body }] of types) {
    if (name === 'Command' || name === 'Event') continue;
    out.push(`### ${name}\n`, ...(about ? [`${about}\n`] : []), `${block(body)}\n`);
  }
  return out.join('\n');
}

const block = body => `\`\`\`ts\n${body}\n\`\`\``;

/** Exported types: the comment and the right side of each. */
function declared(text) {
  const found = new Map();
  for (const part of text.split(/\n\n(?=(?:\/\*\*[^\n]*\*\/\n)?export )/)) {
    if (!/^(?:\/\*\*.*\n)?export type /.test(part)) continue;
    const [, about = '', name, body] = /^(?:\/\*\* (.*) \*\/\n)?export type (\w+) =\s*([\s\S]*?);\n?$/.exec(part) ?? [];
    if (name === undefined) throw new Error(`not understood: ${part.slice(0, 80)}`);
    const union = `\n  ${body}`.split(/\n {2}\| (?=\{)/).slice(1).map(outdented);
    found.set(name, { about: about.replaceAll('<', '&lt;'), body: outdented(body.replace(/^\n/, '')), union });
  }
  return found;
}

function outdented(text) {
  const lines = text.trimEnd().split('\n');
  const margin = Math.min(...lines.slice(1).filter(line => line.trim()).map(line => /^ */.exec(line)[0].length), 40);
  return [lines[0].trimStart(), ...lines.slice(1).map(line => line.slice(Math.min(margin, 4)))].join('\n');
}

/** The comment above each variant of a Rust enum, by the variant's name on the wire. */
function variants(text, name) {
  const body = text.slice(text.indexOf(`pub enum ${name}`)).split('\n}\n')[0];
  const found = new Map();
  let about = [];
  for (const line of body.split('\n').slice(1)) {
    const said = /^ {4}\/\/\/ ?(.*)/.exec(line);
    const variant = /^ {4}([A-Z]\w*)/.exec(line);
    if (said) about.push(said[1]);
    else if (variant) {
      found.set(snake(variant[1]), about.join('\n').replaceAll('<', '&lt;'));
      about = [];
    }
  }
  return found;
}

const snake = name => name.replace(/(?<=.)[A-Z]/g, '_$&').toLowerCase();

/** The purpose of each address. An address that only the code or only this table has is an error. */
const ADDRESSES = {
  'GET /v1/websocket': 'The [protocol](../protocol.md) over a WebSocket. No token in the address: it is in the first frame.',
  'POST /v1/stream': 'A session as a stream of JSON lines.',
  'POST /v1/sse': 'A session as Server-Sent Events.',
  'POST /v1/poll': 'A session by long polling.',
  'POST /v1/send': 'Commands of a session of the three above, one per line.',
  'GET /v1/echo': 'A WebSocket echo, if the setting `echo` is on; for conformance suites.',
};

function rest() {
  const out = [
    NOTICE,
    '# Addresses of a node\n',
    'Errors are `{"t":"error","code":…,"text":…}` with the HTTP status of the [code](../protocol.md#codes). Tokens are in `Authorization: Bearer …`, never in an address.\n',
    '## Sessions\n',
    '| | |\n|---|---|',
    ...Object.entries(ADDRESSES).map(([address, about]) => `| \`${address}\` | ${about} |`),
    '',
  ];
  const known = new Set(read('crates/web/src/request.rs').match(/"\/v1\/\w+"/g)?.map(one => one.slice(1, -1)));
  for (const address of Object.keys(ADDRESSES)) if (!known.has(address.split(' ')[1])) throw new Error(`the code has no ${address}`);

  for (const [heading, files] of ROUTERS) {
    out.push(`## ${heading.title}\n`, ...(heading.about ? [`${heading.about}\n`] : []), '| address | methods | purpose |\n|---|---|---|');
    for (const file of files) {
      const text = read(file);
      for (const { path, handlers } of routes(text)) {
        const methods = handlers.map(one => one.method.toUpperCase()).join(', ');
        const about = handlers.map(one => described(text, file, path, one)).filter(Boolean).join('<br>');
        out.push(`| \`${path}\` | ${methods.replace('ANY', 'all')} | ${about} |`);
      }
    }
    out.push('');
  }
  return out.join('\n');
}

const ROUTERS = [
  [
    {
      title: 'A site’s own server',
      about:
        'Requires a token that the site signs like those of its members, with the role `service`, or `admin` for a person. Bodies and answers are JSON.',
    },
    ['crates/web/src/site_api.rs'],
  ],
  [
    { title: 'Stickers', about: 'Changes require such a token, too; a picture is open to everybody who knows its id.' },
    ['crates/web/src/site_api/stickers.rs'],
  ],
  [{ title: 'Files' }, ['crates/web/src/files/mod.rs']],
  [{ title: 'Pictures of members' }, ['crates/web/src/own_pictures.rs']],
  [{ title: 'Calls' }, ['crates/web/src/ice.rs']],
  [{ title: 'The node itself' }, ['crates/server/src/status.rs']],
];

/** Descriptions for handlers whose own comment does not describe their purpose. */
const SAID = {
  'GET /v1/sites/{site}': 'The site: `{"key","name","mode","guests","origins","public_url","domain","keys":[{"kid","kind","of","created","expires","signed_out"}]}`; never a key.',
  'PATCH /v1/sites/{site}': 'Changes `name`, `mode`, `guests` or `origins`; other fields stay. Returns the site.',
  'POST /v1/sites/{site}/keys': 'Registers a public key in PEM: `{"public_key":"…","kid":"…","others_end_after":86400}`. Only with the role `service`. Returns the site.',
  'DELETE /v1/sites/{site}/keys/{kid}': 'Ends a key and its sessions, at once or `after` this number of seconds. Only with the role `service`. Returns the site.',
  'POST /v1/sites/{site}/sign-out': 'Ends sessions and refuses older tokens: `{"kid":"…"}`, `{"guests":true}`, `{"everybody":true}`, or those of all members without a body. Only with the role `service`.',
  'GET /v1/sites/{site}/settings': 'All [settings](settings.md) of the site.',
  'PATCH /v1/sites/{site}/settings': 'Changes settings by a JSON merge patch (RFC 7396); `null` restores the default. Returns all settings.',
  'POST /v1/sites/{site}/import':
    'Imports users, contacts, rooms and old messages: at most 1,000 [JSON lines](../operate.md#moving-a-community-in) and 1 MiB. Imported lines change nothing the second time. `late=append` appends messages that are older than the newest of their conversation. Only with the role `service`. Returns `{"added","known","expired","refused","errors":[{"line","text"}]}`.',
  'POST /v1/sites/{site}/moderate': 'Carries out an act of a moderator: the body of the command [`moderate`](messages.md#moderate), without `t` and `rid`.',
  'GET /v1/sites/{site}/reports': 'A page of reports; parameters `state`, `after`.',
  'GET /v1/sites/{site}/audit': 'A page of the record of moderation, newest first; parameter `after`.',
  'GET /v1/sites/{site}/users':
    'A page of all members by name, including banned ones: `query` (the start of a word of a name), `after` (the `next` of the page before), `limit`. `{"users":[{"user","name","avatar","guest","role","banned","muted","shadow_banned","created","last_seen"}],"next"}`; false fields are left out.',
  'POST /v1/sites/{site}/users/{user}/erase': 'Erases a user, with `{"messages":true}` also their messages.',
  'POST /v1/sites/{site}/merge': 'Turns a guest into a member: `{"guest_token":"…","user":"…"}`.',
  'GET /v1/sites/{site}/stickers': 'All stickers: `{"stickers":[{"id","set","words","url","width","height"}]}`.',
  'POST /v1/sites/{site}/stickers': 'Adds a sticker: `{"set":"…","words":"…","picture":"BASE64"}`, at most 1 MiB. Returns it.',
  'DELETE /v1/sites/{site}/stickers/{sticker}': 'Removes a sticker; sent messages show its text.',
  'GET /v1/stickers/{site}/{sticker}': 'The picture, by the `url` of the sticker.',
  'ANY /v1/files': 'Begins an upload (tus 1.0.0); [details](../protocol.md#files).',
  'ANY /v1/files/{site}/{id}': 'Continues, queries or cancels an upload.',
  'GET /v1/files/{site}/{id}/{name}': 'The bytes, by a link that expires; supports ranges.',
  'PUT /v1/files/{site}/{id}/{name}':
    'The upload of an XMPP app, with the token of its [slot](../design/files.md#files-from-apps); without one it is `bad_link`.',
  'GET /v1/room-pictures/{site}/{id}': 'The uploaded picture of a room, by the `picture` of the room.',
  'GET /v1/pictures/{site}/{id}': 'The picture that a member has set in an app, by the `picture` of the person.',
  'POST /v1/ice': 'STUN and TURN servers with short-lived credentials, for a member’s token.',
  'GET /healthz': '`ok` while the process runs.',
  'GET /readyz': '200 if the node accepts new sessions, else 503.',
  'GET /metrics': 'Metrics for Prometheus, by `Accept` as text or OpenMetrics; requires the token of `metrics_token_file`, unless `metrics_public` is on.',
};

function described(text, file, path, { method, name }) {
  const own = SAID[`${method.toUpperCase()} ${path}`];
  if (own) return own;
  const at = text.search(new RegExp(`^(?:pub )?(?:async )?fn ${name}\\b`, 'm'));
  const above = at === -1 ? [] : text.slice(0, at).trimEnd().split('\n').reverse();
  const about = [];
  for (const line of above) {
    if (!line.startsWith('///')) break;
    about.unshift(line.slice(4));
  }
  if (about.length === 0) console.error(`note: ${file}: nothing says what ${method.toUpperCase()} ${path} is for; SAID in this script may`);
  return about.join(' ');
}

function* routes(text) {
  for (const [, path, methods] of text.matchAll(/\.route\(\s*"([^"]+)",\s*((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)/g)) {
    const handlers = Array.from(methods.matchAll(/\b(get|post|put|patch|delete|any)\(\s*(?:async \|\||[\w:]*?(\w+)\))/g), one => ({
      method: one[1],
      name: one[2],
    }));
    if (handlers.length > 0) yield { path, handlers };
  }
}

/** Settings of an owner, from `crates/chat/src/site/settings.rs` and the features whose structs it contains. */
function settings() {
  const text = rustOf('crates/chat/src/');
  const rows = [];
  const walk = (struct, path) => {
    for (const field of fieldsOf(text, struct)) {
      const { name, type, about } = field;
      const inner = text.includes(`pub struct ${type} {`) ? type : undefined;
      if (inner) walk(inner, `${path}${name}.`);
      else {
        const what = about || aboutOf(text, `pub enum ${type}`) || aboutOf(text, `pub struct ${struct} `);
        rows.push(`| \`${path}${name}\` | ${valuesOf(text, type)}${field.isOption ? '<br>`null`' : ''} | ${defaultOf(text, struct, field)} | ${what} |`);
      }
    }
  };
  walk('Settings', '');
  return [
    NOTICE,
    '# Settings of a site\n',
    'Look up a setting of a site here. Set it by `kith site set KEY NAME=VALUE` or by `PATCH /v1/sites/KEY/settings` ([REST](rest.md)); `kith site set KEY` shows all. A change applies at once.',
    'The settings of a node are in [For operators](../operate.md#settings).\n',
    '| setting | values | default | effect |\n|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function rustOf(folder) {
  const files = readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' }).sort();
  return files.filter(file => file.endsWith('.rs') && !file.includes('tests')).map(file => read(folder + file)).join('\n');
}

function fieldsOf(text, struct) {
  const at = text.indexOf(`pub struct ${struct} {`);
  if (at === -1) throw new Error(`there is no struct ${struct}`);
  const found = [];
  let about = [];
  let isStored = true;
  for (const line of text.slice(at).split('\n}\n')[0].split('\n').slice(1)) {
    const said = /^ {4}\/\/\/ ?(.*)/.exec(line);
    const field = /^ {4}pub (\w+): (.+),$/.exec(line);
    if (said) about.push(said[1]);
    else if (line.trim() === '#[serde(skip)]') isStored = false;
    else if (field && !isStored) [about, isStored] = [[], true];
    else if (field) {
      found.push({ name: field[1], type: field[2].replace(/^Option<(.*)>$/, '$1'), isOption: field[2].startsWith('Option<'), about: linkless(about.join(' ').replace(/\[?`([A-Z_]+)`\]?/g, (whole, name) => constant(text, name) ?? whole)) });
      about = [];
    }
  }
  return found;
}

function constant(text, name) {
  const value = new RegExp(`const ${name}: \\w+ = ([^;]+);`).exec(text)?.[1];
  return value && name.endsWith('BYTES') ? `${value} bytes` : value;
}

/** The comment above a declaration. */
function aboutOf(text, declaration) {
  const at = text.indexOf(declaration);
  const about = [];
  for (const line of at === -1 ? [] : text.slice(0, at).trimEnd().split('\n').reverse()) {
    if (line.startsWith('///')) about.unshift(line.slice(4));
    else if (!line.startsWith('#[')) break;
  }
  return linkless(about.join(' '));
}

const linkless = said => said.replace(/\[`(\w+)`\]/g, '`$1`').replace(/^None:/, '`null`:').replaceAll('|', '\\|');

const PLAIN = {
  bool: '`true`, `false`',
  String: 'text',
};

/** The JSON that a setting of this Rust type takes. A type that is not understood is an error, never a guess. */
function valuesOf(text, type) {
  if (/^u(?:8|16|32|64)$/.test(type)) return 'whole number';
  if (PLAIN[type]) return PLAIN[type];
  const element = /^Vec<(\w+)>$/.exec(type)?.[1];
  if (element === 'String') return 'list of texts';
  if (element) return `list of \`${shapeOf(text, element)}\``;
  const at = text.indexOf(`pub enum ${type} {`);
  if (at === -1) throw new Error(`the values of ${type} are not understood`);
  const body = text.slice(at).split('\n}')[0];
  const about = variants(body, type);
  return Array.from(about, ([word, said]) => (said ? `\`${word}\`: ${said}` : `\`${word}\``)).join('<br>');
}

/** An object in a list, with the JSON type of each field. Fields with a default of serde are optional. */
function shapeOf(text, struct) {
  const at = text.indexOf(`pub struct ${struct} {`);
  const fields = fieldsOf(text, struct).map(({ name, type }) => {
    const isOptional = new RegExp(`#\\[serde\\(default\\)\\]\\s*pub ${name}:`).test(text.slice(at).split('\n}\n')[0]);
    const words = variants(text, type);
    const value = /^u\d+$/.test(type) ? 'number' : type === 'String' ? 'text' : Array.from(words.keys(), word => `"${word}"`).join(' or ');
    if (!value) throw new Error(`the values of ${struct}.${name} are not understood`);
    return `"${name}"${isOptional ? '?' : ''}: ${value}`;
  });
  return `{${fields.join(', ')}}`;
}

/** A Rust default value as JSON. */
function json(text, rust) {
  const value = rust.replace(/\.(?:into|to_owned|to_string)\(\)$/, '');
  if (/^(?:true|false|\d[\d_]*|".*")$/.test(value)) return value.replaceAll('_', /^\d/.test(value) ? '' : '_');
  if (value === 'None') return 'null';
  if (/^[A-Z_]+$/.test(value)) return json(text, new RegExp(`const ${value}: \\w+ = ([^;]+);`).exec(text)?.[1] ?? '?');
  const variant = /^\w+::([A-Z]\w*)$/.exec(value)?.[1];
  if (variant) return `"${snake(variant)}"`;
  throw new Error(`the default ${rust} is not understood`);
}

function defaultOf(text, struct, { name, type, isOption }) {
  const own = new RegExp(`fn default\\(\\) -> ${struct} \\{\\s*(?:${struct}|Self) \\{([^}]*)\\}`).exec(text)?.[1];
  const said = own && new RegExp(`\\b${name}: ([^,\\n]+)`).exec(own)?.[1]?.trim();
  if (said) return `\`${json(text, said)}\``;
  if (isOption) return '`null`';
  if (type === 'bool') return '`false`';
  if (type === 'String') return '`""`';
  if (type.startsWith('Vec')) return '`[]`';
  if (/^u\d+$/.test(type)) return '`0`';
  const marked = new RegExp(`pub enum ${type} \\{[^}]*?#\\[default\\]\\s*([A-Z]\\w*)`).exec(text)?.[1];
  if (!marked) throw new Error(`the default of ${struct}.${name} is not understood`);
  return `\`"${snake(marked)}"\``;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const check = process.argv.includes('--check');
  mkdirSync(new URL('docs/reference/', ROOT), { recursive: true });
  for (const [path, text] of pages()) {
    const file = fileURLToPath(new URL(path, ROOT));
    if (!check) {
      writeFileSync(file, text);
      continue;
    }
    if (readFileSync(file, 'utf8') === text) continue;
    console.error(`${path} is out of date: run \`node scripts/reference.mjs\``);
    process.exitCode = 1;
  }
}
