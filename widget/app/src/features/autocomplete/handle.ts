// The interface of suggestions for the text field, before the part is loaded.

export interface AutocompleteHandle {
  /** True where the key was meant for the list. */
  onKey(event: KeyboardEvent): boolean;
}

export const SUGGESTIONS_ID = 'suggestions';

/** There may be something in it that can be completed; `triggerAt` says whether there is. */
export const MAY_COMPLETE = /(^|[\s(])[:@]/;
