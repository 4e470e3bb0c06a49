/** The fields by which a page of a list is asked for. */
export function page(
  query: string | undefined,
  after: string | undefined,
): { query?: string; after?: string } {
  return { ...(query !== undefined && query !== '' && { query }), ...(after !== undefined && { after }) };
}
