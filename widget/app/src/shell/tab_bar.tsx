// The tab bar: Chats, Contacts, Rooms, Me.

import { useTopic, useWording } from '../app_context.tsx';
import { Icon, type IconName } from '../ui/icon/icon.tsx';
import { isRtl } from '../wording/is_rtl.ts';
import type { Tab } from './open_shell.ts';
import { waitingText } from './waiting_text.ts';

const TABS: readonly { tab: Tab; icon: IconName }[] = [
  { tab: 'chats', icon: 'chat' },
  { tab: 'contacts', icon: 'people' },
  { tab: 'rooms', icon: 'rooms' },
  { tab: 'me', icon: 'person' },
];

interface Props {
  tab: Tab;
  panelId: string;
  titles: Record<Tab, string>;
  onChange(tab: Tab): void;
}

export function TabBar({ tab, panelId, titles, onChange }: Props) {
  const words = useWording();
  const totals = useTopic('totals', client => client.totals());
  // Message requests of strangers are in the list of chats.
  const { unread, strangers } = totals;
  const counts: Record<Tab, number> = {
    chats: unread + strangers,
    contacts: totals.requests,
    rooms: 0,
    me: 0,
  };
  const said: Record<Tab, string> = {
    chats: waitingText(words, totals),
    contacts: words.requestsWaiting(totals.requests),
    rooms: '',
    me: '',
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const list = event.currentTarget as HTMLElement;
    const at = TABS.findIndex(one => one.tab === tab);
    const ahead = isRtl(list) ? -1 : 1;
    const next = { ArrowRight: at + ahead, ArrowLeft: at - ahead, Home: 0, End: TABS.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const index = (next + TABS.length) % TABS.length;
    const chosen = TABS[index];
    if (chosen === undefined) return;
    onChange(chosen.tab);
    list.querySelectorAll<HTMLElement>('[role=tab]')[index]?.focus();
  };
  return (
    <div class="tab-bar" role="tablist" aria-label={words.messenger} onKeyDown={onKeyDown}>
      {TABS.map(one => (
        <button
          key={one.tab}
          type="button"
          role="tab"
          id={`tab-${one.tab}`}
          class="tab"
          aria-selected={one.tab === tab}
          aria-controls={panelId}
          tabIndex={one.tab === tab ? 0 : -1}
          onClick={() => onChange(one.tab)}
        >
          <span class="tab-icon">
            <Icon name={one.icon} />
            {counts[one.tab] > 0 && (
              <span class="badge tab-badge" dir="auto" aria-hidden="true">
                {badgeText(counts[one.tab])}
              </span>
            )}
          </span>
          <span>{titles[one.tab]}</span>
          {counts[one.tab] > 0 && <span class="hidden-text">{said[one.tab]}</span>}
        </button>
      ))}
    </div>
  );
}

/** A badge has room for two digits. */
export function badgeText(count: number): string {
  return count > 99 ? '99+' : String(count);
}
