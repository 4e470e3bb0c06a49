// Finds errors in the texts of a language: a list of sentences, each with the path of the text.

import { argumentsOf, BASE, ELSEWHERE, parseText, SHELL } from './catalogue.mjs';

/** `alike`: allowed texts that are the same in the language and in English, as a reader sees them. */
export function problems(catalogues, language, alike = []) {
  const base = catalogues.get(BASE);
  const found = [];
  for (const [path, text] of catalogues.get(language)) {
    const report = problem => found.push(`${language} ${path}: ${problem}`);
    const english = base.get(path);
    if (english === undefined) {
      report('English has no such text');
      continue;
    }
    try {
      const [own, wanted] = [parseText(text), parseText(english)];
      for (const problem of [...wrongArguments(own, wanted), ...wrongForms(own, language)]) report(problem);
      if (!/\S/.test(shown(own))) report('it is empty');
      else if (
        language !== BASE &&
        shown(own) === shown(wanted) &&
        isWords(own) &&
        !alike.includes(shown(own))
      )
        report('it is still in English (or belongs into alike.json)');
    } catch (error) {
      report(`it is not valid: ${error.message}`);
    }
  }
  return found;
}

/** Finds texts with the name of a text of the shell. Both are in one object, so one would replace the other. */
export function shadowed(catalogues) {
  const paths = Array.from(catalogues.get(BASE).keys(), path => path.split('.'));
  const shell = new Set(paths.filter(([namespace]) => namespace === SHELL).map(([, key]) => key));
  return paths
    .filter(([namespace, key]) => namespace !== SHELL && !ELSEWHERE.includes(namespace) && shell.has(key))
    .map(path => `${BASE} ${path.join('.')}: the shell has a text of that name`);
}

function wrongArguments(own, wanted) {
  const [given, known] = [argumentsOf(own), argumentsOf(wanted)];
  const unknown = Array.from(given.keys()).filter(name => !known.has(name));
  if (unknown.length > 0) return unknown.map(name => `English has no argument {${name}}`);
  const counted = Array.from(given).filter(([name, type]) => type === 'number' && known.get(name) !== type);
  if (counted.length > 0) return counted.map(([name]) => `{${name}} is no number in English`);
  const [said, meant] = [own, wanted].map(one => inserted(one).sort().join(' '));
  return said === meant ? [] : [`it inserts ${said || 'nothing'}, English inserts ${meant || 'nothing'}`];
}

/** The arguments that the text inserts in its `other` forms. */
function inserted(parts) {
  return parts.flatMap(one => {
    if (typeof one === 'string') return [];
    return one.options ? inserted(one.options.other) : [`{${one.insert}}`];
  });
}

/**
 * Finds wrong plural forms. A text has all forms of its language, or `other` alone. A form that applies to several
 * numbers must contain the number if `other` does.
 */
function wrongForms(parts, language) {
  const { forms, numbers } = pluralForms(language);
  return parts.flatMap(one => {
    if (!one.options) return [];
    const inside = Object.values(one.options).flatMap(option => wrongForms(option, language));
    if (!one.plural) return inside;
    const given = Object.keys(one.options).filter(key => key !== 'other' && !key.startsWith('='));
    const unknown = given.filter(key => !forms.includes(key));
    const left = given.length === 0 ? [] : Array.from(numbers.keys()).filter(key => !(key in one.options));
    const counts = option => option.some(part => part.number || (part.insert && part.insert !== one.plural));
    const silent = given.filter(
      key => counts(one.options.other) && !counts(one.options[key]) && numbers.get(key) > 1,
    );
    return [
      ...inside,
      ...unknown.map(key => `{${one.plural}}: the language has no form "${key}"`),
      ...left.map(key => `{${one.plural}}: the form "${key}" is missing`),
      ...silent.map(
        key => `{${one.plural}}: the form "${key}" is for several numbers, but does not say which`,
      ),
    ];
  });
}

const pluralFormsOf = new Map();

/** The plural forms of a language, and for each form how many whole numbers up to 999 use it. */
function pluralForms(language) {
  const known = pluralFormsOf.get(language);
  if (known) return known;
  const rules = new Intl.PluralRules(language);
  const numbers = new Map();
  for (let n = 0; n < 1_000; n++) {
    const form = rules.select(n);
    numbers.set(form, (numbers.get(form) ?? 0) + 1);
  }
  const made = { forms: rules.resolvedOptions().pluralCategories, numbers };
  pluralFormsOf.set(language, made);
  return made;
}

/** The text as a reader sees it, with the names of its arguments. */
function shown(parts) {
  return parts
    .map(one => {
      if (typeof one === 'string') return one;
      return one.options ? shown(one.options.other) : `{${one.insert}}`;
    })
    .join('');
}

/** Whether the text has letters beside its arguments and punctuation. */
function isWords(parts) {
  return /\p{L}/u.test(shown(parts).replace(/\{\w+\}/g, ''));
}
