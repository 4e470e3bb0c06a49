/** The fields of a value from outside, each still to be checked. A value that is no object has none. */
export function fieldsOf(value: unknown): Partial<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
