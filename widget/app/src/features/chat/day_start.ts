// Finds the message for a chosen day: the start of the day in local time, and the first message with a row.

/** Unix milliseconds of midnight in the time zone of the browser. Undefined if `day` is not a date. */
export function startOfDay(day: string): number | undefined {
  const [, year, month, date] = /^(\d{4,6})-(\d\d)-(\d\d)$/.exec(day) ?? [];
  if (year === undefined) return undefined;
  const time = new Date(Number(year), Number(month) - 1, Number(date)).getTime();
  return Number.isNaN(time) ? undefined : Math.max(0, time);
}

/** The date as the value of an input of type `date`. */
export function isoDay(date: Date): string {
  const two = (n: number) => String(n).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/**
 * The seq of the first message that is not a thread reply, because thread replies have no row in the chat.
 * Otherwise the seq of the first message.
 */
export function firstShown(messages: readonly { seq: number; thread?: number }[]): number | undefined {
  return (messages.find(one => one.thread === undefined) ?? messages[0])?.seq;
}
