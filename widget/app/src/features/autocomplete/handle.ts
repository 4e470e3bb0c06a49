// Types and constants of autocompletion that the composer needs before that part is loaded.

export interface AutocompleteHandle {
  /** True if the suggestion list has handled the key. */
  onKey(event: KeyboardEvent): boolean;
}

export const SUGGESTIONS_ID = 'suggestions';

/** A quick test whether the text may contain something to complete. `triggerAt` decides exactly. */
export const MAY_COMPLETE = /(^|[\s(])[:@]/;
