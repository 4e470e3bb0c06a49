// The files that the user is about to send in a conversation or a thread. A tray outlives its view: its
// files are still there when the user returns. A sent message goes out when all of its files are uploaded.

import type { Client, Code, ConversationKey, SentFile } from '@kith/client';
import { Upload, type VoiceOf } from '@kith/client/upload';
import type { ConversationSource } from '../chat/conversation_source.ts';
import { prepared } from './prepare_upload.ts';
import { uploadHost } from './upload_host.ts';
import { trayName, trays } from './upload_trays.ts';

export const MOST_FILES = 10;

export interface Item {
  id: number;
  name: string;
  size: number;
  /** Shown beside the name. */
  preview?: ImageBitmap;
  /** Undefined while the file is being prepared. */
  upload?: Upload;
  failed?: Code;
}

/** The text and the reply of the message, after the user has sent the files. */
interface Sent {
  text: string;
  replyTo: number | undefined;
}

export class Tray {
  items: readonly Item[] = [];
  sent: Sent | undefined;
  #listeners = new Set<() => void>();
  #numbers = 0;

  constructor(
    private readonly client: Client,
    private readonly source: ConversationSource,
    private readonly key: ConversationKey,
    private readonly mostBytes: () => number,
  ) {}

  /** Returns the number of files that did not fit. */
  add(files: readonly File[], voice?: VoiceOf): number {
    const room = MOST_FILES - this.items.length;
    for (const file of files.slice(0, room)) void this.#add(file, voice);
    return Math.max(0, files.length - room);
  }

  remove(item: Item): void {
    item.upload?.cancel();
    this.#keep(this.items.filter(one => one.id !== item.id));
  }

  retry(item: Item): void {
    item.upload?.retry();
  }

  /** Sends the files with this text as soon as all of them are uploaded. */
  send(text: string, replyTo: number | undefined): void {
    this.sent = { text, replyTo };
    this.#changed();
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #add(file: File, voice?: VoiceOf): Promise<void> {
    const id = ++this.#numbers;
    this.#keep([...this.items, { id, name: file.name, size: file.size }]);
    const { bytes, name, preview } = await prepared(file);
    // The file was removed meanwhile.
    if (!this.items.some(one => one.id === id)) return;
    const more = { name, size: bytes.size, ...(preview && { preview }) };
    if (bytes.size > this.mostBytes()) return this.#set(id, { ...more, failed: 'file_too_large' });
    const of = { to: this.key, name, bytes, ...(voice !== undefined && { voice }) };
    const upload = new Upload(uploadHost(this.client), of, () => this.#changed());
    this.#set(id, { ...more, upload });
  }

  #set(id: number, more: Partial<Item>): void {
    this.#keep(this.items.map(one => (one.id === id ? { ...one, ...more } : one)));
  }

  #keep(items: readonly Item[]): void {
    this.items = items;
    if (items.length === 0) this.sent = undefined;
    this.#changed();
  }

  #changed(): void {
    const files = this.items.map(item =>
      item.upload?.state.at === 'done' ? item.upload.state.file : undefined,
    );
    if (this.sent !== undefined && files.length > 0 && files.every(file => file !== undefined)) {
      const { text, replyTo } = this.sent;
      this.sent = undefined;
      this.items = [];
      this.source.send(this.key, text, replyTo, files as SentFile[]);
    }
    for (const listener of [...this.#listeners]) listener();
  }
}

export function trayOf(client: Client, key: ConversationKey, source: ConversationSource): Tray {
  const ofClient = trays.get(client) ?? new Map<string, Tray>();
  trays.set(client, ofClient);
  const name = trayName(key, source);
  const tray =
    ofClient.get(name) ??
    new Tray(client, source, key, () => client.me()?.limits.file_bytes ?? Number.POSITIVE_INFINITY);
  ofClient.set(name, tray);
  return tray;
}
