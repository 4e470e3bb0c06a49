// Compiles the texts of a language to JavaScript: a text without arguments to a string, others to functions.

import { argumentsOf, BASE, FORMATTED, parseText } from './catalogue.mjs';

/** Marks around every inserted name, so that its direction does not affect the text around it (UAX #9 §2.4). */
const [ISOLATE, END] = ['\u2068', '\u2069'];

/** The function that compiled texts call: picks the text of exactly this number, or of its plural form. */
export const PLURAL = `export const pluralOf = language => {
  const rules = new Intl.PluralRules(language);
  return (n, forms) => forms[n] ?? forms[rules.select(n)] ?? forms.other;
};`;

/**
 * A JavaScript expression for the texts of these namespaces, in which `plural` picks the form of a number. English
 * replaces texts that the language does not have.
 */
export function compile(catalogues, language, namespaces) {
  const tree = {};
  for (const [path, english] of catalogues.get(BASE)) {
    const [namespace] = path.split('.', 1);
    if (!namespaces.includes(namespace)) continue;
    const own = catalogues.get(language).get(path);
    const parts = own === undefined ? inEveryLanguage(parseText(english)) : parseText(own);
    put(tree, path.split('.'), compileText(parts, argumentsOf(parseText(english))));
  }
  return `(${print(namespaces.length === 1 ? (tree[namespaces[0]] ?? {}) : tree)})`;
}

/** The paths of texts that the language does not have. */
export function missing(catalogues, language) {
  const own = catalogues.get(language);
  return Array.from(catalogues.get(BASE).keys()).filter(path => !own.has(path));
}

/** Changes `one` to `=1` in English texts: another language may use the form `one` for 21. */
function inEveryLanguage(parts) {
  return parts.map(one => {
    if (!one.options) return one;
    const options = Object.entries(one.options).map(([key, option]) => [
      one.plural && key === 'one' ? '=1' : key,
      inEveryLanguage(option),
    ]);
    return { ...one, options: Object.fromEntries(options) };
  });
}

/** `known`: the arguments in English, which the code passes. A single one is passed directly, several as an object. */
function compileText(parts, known) {
  const names = Array.from(known.keys());
  for (const name of argumentsOf(parts).keys())
    if (!known.has(name)) throw new Error(`English has no argument {${name}}`);
  if (names.length === 0) return quoted(parts, known);
  const variable = name => `a${names.indexOf(name)}`;
  const parameters = names.length === 1 ? 'a0' : `{ ${names.map(name => `${name}: ${variable(name)}`)} }`;
  return `(${parameters}) => ${quoted(parts, known, variable)}`;
}

function quoted(parts, known, variable) {
  if (parts.length === 1 && parts[0].options) return expression(parts[0], known, variable);
  const body = parts.map(one => {
    if (typeof one === 'string') return one.replace(/[\\`$]/g, '\\$&');
    const inserted = `\${${expression(one, known, variable)}}`;
    const isName = known.get(one.insert) === 'string' && !FORMATTED.includes(one.insert);
    return isName ? ISOLATE + inserted + END : inserted;
  });
  return `\`${body.join('')}\``;
}

function expression(one, known, variable) {
  if (one.insert) return variable(one.insert);
  const { other, ...options } = one.options;
  const rest = quoted(other, known, variable);
  const cases = Object.entries(options)
    .map(([key, option]) => [key, quoted(option, known, variable)])
    // Leave out forms that equal `other`. Keep the text of an exact number, because it precedes the number's form.
    .filter(([key, text]) => text !== rest || key.startsWith('='));
  if (cases.length === 0) return rest;
  if (one.select) return `({ __proto__: null, ${fields(cases)} }[${variable(one.select)}] ?? ${rest})`;
  return `plural(${variable(one.plural)}, { ${fields([...cases, ['other', rest]])} })`;
}

const fields = cases =>
  cases.map(([key, text]) => `${JSON.stringify(key.replace('=', ''))}: ${text}`).join(', ');

function put(tree, [key, ...rest], value) {
  if (rest.length === 0) {
    tree[key] = value;
    return;
  }
  tree[key] ??= {};
  put(tree[key], rest, value);
}

function print(tree) {
  if (typeof tree === 'string') return tree;
  return `{ ${Object.entries(tree)
    .map(([key, value]) => `${JSON.stringify(key)}: ${print(value)}`)
    .join(', ')} }`;
}
