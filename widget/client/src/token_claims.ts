// Fields that a client reads from its own token. They are not verified, so they serve for timing and naming only.

export interface Claims {
  sub?: string;
  /** Unix milliseconds. */
  exp?: number;
}

/** Never throws. Leaves out fields that it cannot read. */
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
