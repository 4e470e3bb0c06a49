// The few words that the loader needs before the app and its catalogue are there.

export interface Wording {
  open: string;
  unread(count: number): string;
  away: string;
}

/** After a colon a number needs no other form of the word beside it; `one` is for those who say it with a word after it. */
type Words = readonly [open: string, away: string, unread: string, one?: string];

const WORDINGS: Record<string, Words> = {
  ar: ['فتح المراسلة', 'المراسلة: غير متاحة الآن', 'غير مقروءة: #'],
  cs: ['Otevřít zprávy', 'Zprávy: teď nedostupné', 'nepřečtené: #'],
  de: [
    'Messenger öffnen',
    'Messenger: zurzeit nicht erreichbar',
    '# ungelesene Nachrichten',
    '1 ungelesene Nachricht',
  ],
  en: ['Open messenger', 'Messenger: currently unavailable', '# unread messages', '1 unread message'],
  es: ['Abrir la mensajería', 'Mensajería: no disponible ahora', 'sin leer: #'],
  fa: ['باز کردن پیام‌رسان', 'پیام‌رسان: اکنون در دسترس نیست', 'خوانده‌نشده: #'],
  fr: ['Ouvrir la messagerie', 'Messagerie : injoignable pour le moment', 'non lus : #'],
  he: ['פתיחת ההודעות', 'הודעות: לא זמינות כרגע', 'לא נקראו: #'],
  hi: ['मैसेंजर खोलें', 'मैसेंजर: अभी पहुँच में नहीं', 'अनपढ़े: #'],
  it: ['Apri i messaggi', 'Messaggi: ora non raggiungibili', 'non letti: #'],
  ja: ['メッセージを開く', 'メッセージ：現在接続できません', '未読#件'],
  ko: ['메신저 열기', '메신저: 지금 연결할 수 없음', '읽지 않음 #개'],
  nl: ['Berichten openen', 'Berichten: nu niet bereikbaar', 'ongelezen: #'],
  pl: ['Otwórz komunikator', 'Komunikator: teraz niedostępny', 'nieprzeczytane: #'],
  pt: ['Abrir mensagens', 'Mensagens: indisponíveis agora', 'não lidas: #'],
  ru: ['Открыть мессенджер', 'Мессенджер: сейчас недоступен', 'непрочитанных: #'],
  sv: ['Öppna meddelanden', 'Meddelanden: går inte att nå just nu', 'olästa: #'],
  tr: ['Mesajlaşmayı aç', 'Mesajlaşma: şu an ulaşılamıyor', 'okunmamış: #'],
  uk: ['Відкрити месенджер', 'Месенджер: зараз недоступний', 'непрочитаних: #'],
  zh: ['打开消息', '消息：暂时无法连接', '# 条未读'],
};

export function wordingFor(lang: string): Wording {
  const language = lang.toLowerCase().split('-')[0] ?? '';
  const known = Object.hasOwn(WORDINGS, language) ? language : 'en';
  const [open, away, unread, one] = WORDINGS[known] as Words;
  return {
    open,
    away,
    unread: count => (count === 1 && one) || unread.replace('#', String(count)),
  };
}
