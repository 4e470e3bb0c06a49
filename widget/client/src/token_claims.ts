// Fields that a client reads in its own token. Unverified: good for timing and naming, never for decisions.

export interface Claims {
  sub?: string;
  /** Unix milliseconds. */
  exp?: number;
}

/** Never throws; what cannot be read is left out. */
export function claims(token: string): Claims {
  try {
    const part = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
    const bytes = Uint8Array.from(atob(part), one => one.charCodeAt(0));
    const body: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof body !== 'object' || body === null) return {};
    const { sub, exp }: { sub?: unknown; exp?: unknown } = body;
    return {
      ...(typeof sub === 'string' && sub !== '' ? { sub } : {}),
      ...(typeof exp === 'number' && Number.isFinite(exp) ? { exp: exp * 1000 } : {}),
    };
  } catch {
    return {};
  }
}
