// How good the network is, from what the browser counts: which way, what is lost, and when it is too weak for pictures.

/** Counters up to now. */
export interface Sample {
  at: number;
  relayed?: boolean;
  received: number;
  lost: number;
  bytes: number;
  /** Of what one sends, so much did not arrive, as the other one says: 0 to 1. */
  lostThere?: number;
  /** Bits per second that would go out, as the browser guesses. */
  room?: number;
  /** Seconds there and back. */
  trip?: number;
}

export interface Quality {
  way?: 'direct' | 'relayed';
  /** 0 to 1, the worse of both directions. */
  loss: number;
  /** Received kbit/s. */
  kbits: number;
  tripMs?: number;
  /** Too weak for pictures. */
  weak: boolean;
}

/** From one look to the next. */
export const SAMPLE_MS = 2_000;
const BAD_LOSS = 0.1;
const GOOD_LOSS = 0.03;
/** A picture that is worth it needs that much. */
const LEAST_ROOM = 120_000;
/** So many bad samples in a row, and so many good ones until it is tried again. Each time it takes twice as long. */
const BAD_SAMPLES = 3;
const GOOD_SAMPLES = 5;
const MOST_PATIENCE = 8;

export class QualityMeter {
  #before: Sample | undefined;
  #bad = 0;
  #good = 0;
  #weak = false;
  #patience = 1;

  /** `pictures`: one sends some now, so that the guess of what would go out says something. */
  take(sample: Sample, pictures: boolean): Quality {
    const before = this.#before ?? sample;
    this.#before = sample;
    const received = Math.max(0, sample.received - before.received);
    const lost = Math.max(0, sample.lost - before.lost);
    const lostHere = received + lost > 0 ? lost / (received + lost) : 0;
    const loss = Math.max(lostHere, sample.lostThere ?? 0);
    const seconds = Math.max(0.001, (sample.at - before.at) / 1_000);
    const tight = pictures && sample.room !== undefined && sample.room < LEAST_ROOM;
    this.#judge(loss > BAD_LOSS || tight, loss < GOOD_LOSS && !tight);
    return {
      ...(sample.relayed !== undefined && { way: sample.relayed ? 'relayed' : 'direct' }),
      loss,
      kbits: Math.round((Math.max(0, sample.bytes - before.bytes) * 8) / seconds / 1_000),
      ...(sample.trip !== undefined && { tripMs: Math.round(sample.trip * 1_000) }),
      weak: this.#weak,
    };
  }

  #judge(bad: boolean, good: boolean): void {
    this.#bad = bad ? this.#bad + 1 : 0;
    this.#good = good ? this.#good + 1 : 0;
    if (!this.#weak && this.#bad >= BAD_SAMPLES) {
      this.#weak = true;
      this.#good = 0;
    } else if (this.#weak && this.#good >= GOOD_SAMPLES * this.#patience) {
      this.#weak = false;
      this.#bad = 0;
      this.#patience = Math.min(MOST_PATIENCE, this.#patience * 2);
    }
  }
}

/** A line of the report; browsers differ in what they have. */
type Stat = { type: string; id: string } & Record<string, unknown>;

export function sampleOf(stats: Iterable<Stat>, at: number): Sample {
  const all = Array.from(stats);
  const sample: Sample = { at, received: 0, lost: 0, bytes: 0 };
  for (const one of all) {
    if (one.type === 'inbound-rtp') {
      sample.received += number(one.packetsReceived);
      sample.lost += number(one.packetsLost);
      sample.bytes += number(one.bytesReceived);
    } else if (one.type === 'remote-inbound-rtp' && typeof one.fractionLost === 'number') {
      sample.lostThere = Math.max(sample.lostThere ?? 0, one.fractionLost);
    }
  }
  const pair = chosenPair(all);
  if (pair === undefined) return sample;
  const kinds = [pair.localCandidateId, pair.remoteCandidateId].map(
    id => all.find(one => one.id === id)?.candidateType,
  );
  sample.relayed = kinds.includes('relay');
  if (typeof pair.availableOutgoingBitrate === 'number') sample.room = pair.availableOutgoingBitrate;
  if (typeof pair.currentRoundTripTime === 'number') sample.trip = pair.currentRoundTripTime;
  return sample;
}

/** Named by the transport, or, in Firefox, by itself. */
function chosenPair(all: readonly Stat[]): Stat | undefined {
  const named = all.find(one => one.type === 'transport' && one.selectedCandidatePairId !== undefined);
  const pairs = all.filter(one => one.type === 'candidate-pair');
  return named
    ? pairs.find(one => one.id === named.selectedCandidatePairId)
    : pairs.find(one => one.selected === true || (one.nominated === true && one.state === 'succeeded'));
}

function number(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
