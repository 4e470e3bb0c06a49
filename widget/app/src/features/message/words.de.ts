/** German. */

import type { MessageWords } from './words.en.ts';

export const de = (): MessageWords => ({
  copy: 'Text kopieren',
  copied: 'Kopiert',
  edit: 'Bearbeiten',
  quickReactions: 'Reagieren',
  notAllowed: 'Du kannst dieser Person nicht schreiben.',
  tooLong: 'Diese Nachricht ist zu lang.',
  serverBusy: 'Der Server kann gerade keine Nachrichten speichern.',
  deleteAsk: 'Diese Nachricht löschen?',
  deleteExplain: 'Sie verschwindet bei allen. Das lässt sich nicht rückgängig machen.',
  delete: 'Löschen',
  report: 'Melden',
  firstContact: 'Keine Links und Dateien, bis eine Antwort kommt.',
  requestPending: 'Nicht gesendet. Warte auf eine Antwort.',
  tooManyRequests: 'Du hast heute schon vielen neuen Leuten geschrieben. Versuch es morgen wieder.',
  siteReadOnly: 'Gerade dürfen hier nur Moderatoren schreiben.',
  pinMessage: 'Für alle anheften',
  unpinMessage: 'Nicht mehr anheften',
  filtered: 'Ein Wort oder ein Link darin ist auf dieser Seite nicht erwünscht.',
  seenBy: 'Gesehen von',
  deliveredTo: 'Zugestellt an',
  seenByNobody: 'Noch niemand',
  seenByHint: 'Wer nicht zeigt, ob er online ist, steht hier nicht.',
});
