/** The fields of a request for a page of a list. */
export function page(
  query: string | undefined,
  after: string | undefined,
): { query?: string; after?: string } {
  return { ...(query !== undefined && query !== '' && { query }), ...(after !== undefined && { after }) };
}
