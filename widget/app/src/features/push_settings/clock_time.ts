// Converts minutes of the day to the value of a time field and back.

export function timeOf(minutes: number): string {
  const two = (n: number) => String(n).padStart(2, '0');
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** Undefined if the field is empty or incomplete. */
export function minutesOf(time: string): number | undefined {
  const [, hours, minutes] = /^(\d{2}):(\d{2})/.exec(time) ?? [];
  return hours === undefined ? undefined : Number(hours) * 60 + Number(minutes);
}

/** The browser's current offset from UTC in minutes; positive east of Greenwich. */
export function offsetNow(): number {
  return 0 - new Date().getTimezoneOffset();
}
