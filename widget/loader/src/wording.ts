// The few words that the loader needs before the app and its catalogue are there.

export interface Wording {
  open: string;
  unread(count: number): string;
  away: string;
}

const wordings: Record<string, Wording> = {
  en: {
    open: 'Open messenger',
    unread: count => (count === 1 ? '1 unread message' : `${count} unread messages`),
    away: 'Messenger: cannot be reached now',
  },
  de: {
    open: 'Messenger öffnen',
    unread: count => (count === 1 ? '1 ungelesene Nachricht' : `${count} ungelesene Nachrichten`),
    away: 'Messenger: zurzeit nicht erreichbar',
  },
};

export function wordingFor(lang: string): Wording {
  return wordings[lang.toLowerCase().split('-')[0] ?? ''] ?? (wordings.en as Wording);
}
