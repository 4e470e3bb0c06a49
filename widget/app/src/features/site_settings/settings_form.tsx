// The form of a site's settings, generated from their table in `site_settings.ts`.

import type { FilterAct, SiteSettings } from '@kith/client';
import { useState } from 'preact/hooks';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { useWords } from '../../wording/late_words.ts';
import { SETTINGS } from './settings_schema.ts';
import { GROUPS, patchOf, type Setting, textAt, valueAt } from './site_settings.ts';

interface Props {
  settings: SiteSettings;
  /** The error of the last change, if it was not saved. */
  notSaved: string | undefined;
  onSave(patch: SiteSettings): void;
}

export function SettingsForm({ settings, notSaved, onSave }: Props) {
  const words = useWords('settingsForm');
  /** The changed settings that are not saved yet, by path. */
  const [changed, setChanged] = useState<ReadonlyMap<string, unknown>>(new Map());
  const set = (path: string, value: unknown) => {
    const now = new Map(changed);
    if (JSON.stringify(value) === JSON.stringify(valueAt(settings, path))) now.delete(path);
    else now.set(path, value);
    setChanged(now);
  };
  const at = (path: string) => (changed.has(path) ? changed.get(path) : valueAt(settings, path));
  return (
    <form
      class="guard-settings"
      onSubmit={event => {
        event.preventDefault();
        onSave(patchOf(changed));
      }}
    >
      {GROUPS.map(group => (
        <fieldset key={group.name} class="guard-part">
          <legend>{words.groups[group.name]}</legend>
          {group.settings.map(one => (
            <Field
              key={one.path}
              setting={one}
              value={at(one.path)}
              onChange={value => set(one.path, value)}
            />
          ))}
          {group.name === 'filters' && (
            <Patterns
              patterns={(at('filters.patterns') as Pattern[] | undefined) ?? []}
              onChange={value => set('filters.patterns', value)}
            />
          )}
        </fieldset>
      ))}
      <div class="guard-foot">
        <p class="grow" role="status">
          {changed.size > 0 && words.unsaved(changed.size)}
        </p>
        <button type="submit" class="button button-main" disabled={changed.size === 0}>
          {words.saveSettings}
        </button>
      </div>
      {notSaved && (
        <p class="sheet-failed" role="alert" dir="auto">
          {notSaved}
        </p>
      )}
    </form>
  );
}

interface FieldProps {
  setting: Setting;
  value: unknown;
  onChange(value: unknown): void;
}

function Field({ setting: { path, kind }, value, onChange }: FieldProps) {
  const words = useWords('settingsForm');
  const values: Record<string, string> = useWords('siteSettings').values;
  const name = textAt(words.settings, path);
  const hint = textAt(words.hints, path);
  const id = `guard-${path}`;
  const common = { id, ...(hint && { 'aria-describedby': `${id}-hint` }) };
  const label = (
    <span class="grow">
      <label for={id}>{name}</label>
      {hint && (
        <span class="guard-hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </span>
  );
  if (kind.is === 'switch') {
    return (
      <div class="guard-field">
        {label}
        <input
          {...common}
          type="checkbox"
          checked={value === true}
          onChange={event => onChange(event.currentTarget.checked)}
        />
      </div>
    );
  }
  if (kind.is === 'number') {
    return (
      <div class="guard-field">
        {label}
        <input
          {...common}
          type="number"
          required
          min={kind.least}
          max={kind.most}
          value={String(value ?? '')}
          onInput={event => onChange(Number(event.currentTarget.value))}
        />
      </div>
    );
  }
  if (kind.is === 'choice') {
    return (
      <div class="guard-field">
        {label}
        <select
          {...common}
          value={String(value ?? '')}
          onChange={event => onChange(event.currentTarget.value || null)}
        >
          {kind.values.map(one => (
            <option key={one} value={one ?? ''}>
              {values[one ?? 'default']}
            </option>
          ))}
        </select>
      </div>
    );
  }
  const isList = kind.is === 'list';
  return (
    <div class="guard-field guard-tall">
      {label}
      <textarea
        {...common}
        rows={isList ? 4 : 2}
        dir="auto"
        value={isList ? ((value as string[] | undefined) ?? []).join('\n') : String(value ?? '')}
        onChange={event => {
          const text = event.currentTarget.value;
          const lines = text.split('\n').map(one => one.trim());
          onChange(isList ? lines.filter(one => one !== '') : text);
        }}
      />
    </div>
  );
}

interface Pattern {
  pattern: string;
  act: FilterAct;
}

const ACTS = SETTINGS['filters.words_act'].values;

function Patterns({ patterns, onChange }: { patterns: readonly Pattern[]; onChange(now: Pattern[]): void }) {
  const words = useWords('settingsForm');
  const { values } = useWords('siteSettings');
  const put = (at: number, now: Partial<Pattern>) =>
    onChange(patterns.map((one, index) => (index === at ? { ...one, ...now } : one)));
  return (
    <div class="guard-patterns">
      <p>
        {words.patterns}
        <span class="guard-hint">{words.patternsHint}</span>
      </p>
      {patterns.map((one, at) => (
        <div key={at} class="guard-pattern">
          <input
            aria-label={words.pattern(at + 1)}
            dir="ltr"
            maxLength={200}
            required
            value={one.pattern}
            onInput={event => put(at, { pattern: event.currentTarget.value })}
          />
          <select
            aria-label={words.patternAct(at + 1)}
            value={one.act}
            onChange={event => put(at, { act: event.currentTarget.value as FilterAct })}
          >
            {ACTS.map(act => (
              <option key={act} value={act}>
                {values[act]}
              </option>
            ))}
          </select>
          <button
            type="button"
            class="icon-button"
            aria-label={words.removePattern(at + 1)}
            title={words.removePattern(at + 1)}
            onClick={() => onChange(patterns.filter((_, index) => index !== at))}
          >
            <Icon name="trash" />
          </button>
        </div>
      ))}
      <button
        type="button"
        class="button"
        onClick={() => onChange([...patterns, { pattern: '', act: 'reject' }])}
      >
        {words.addPattern}
      </button>
    </div>
  );
}
