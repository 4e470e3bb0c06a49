// From a chosen day to a message: when the day begins here, and which message of the answer has a row.

/** Unix milliseconds of midnight in the time zone of the browser. Undefined: no day. */
export function startOfDay(day: string): number | undefined {
  const [, year, month, date] = /^(\d{4,6})-(\d\d)-(\d\d)$/.exec(day) ?? [];
  if (year === undefined) return undefined;
  const time = new Date(Number(year), Number(month) - 1, Number(date)).getTime();
  return Number.isNaN(time) ? undefined : Math.max(0, time);
}

/** As the value of an input of type `date`. */
export function isoDay(date: Date): string {
  const two = (n: number) => String(n).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Replies in threads have no row in the chat. */
export function firstShown(messages: readonly { seq: number; thread?: number }[]): number | undefined {
  return (messages.find(one => one.thread === undefined) ?? messages[0])?.seq;
}
