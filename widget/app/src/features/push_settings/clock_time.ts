// Minutes of the day, as a field for a time shows them.

export function timeOf(minutes: number): string {
  const two = (n: number) => String(n).padStart(2, '0');
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** Undefined while the field is not filled. */
export function minutesOf(time: string): number | undefined {
  const [, hours, minutes] = /^(\d{2}):(\d{2})/.exec(time) ?? [];
  return hours === undefined ? undefined : Number(hours) * 60 + Number(minutes);
}

/** Minutes by which the clock of this browser is ahead of UTC now. */
export function offsetNow(): number {
  return 0 - new Date().getTimezoneOffset();
}
