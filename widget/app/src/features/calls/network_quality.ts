// Rates the network from the browser's statistics: the path, the packet loss, and whether video is possible.

/** Counters of the connection since its start, and the browser's current estimates. */
export interface Sample {
  at: number;
  relayed?: boolean;
  received: number;
  lost: number;
  bytes: number;
  /** Share of the sent packets that were lost, as the other side reports: 0 to 1. */
  lostThere?: number;
  /** The browser's estimate of the available outgoing bandwidth, in bits per second. */
  room?: number;
  /** Round-trip time in seconds. */
  trip?: number;
}

export interface Quality {
  way?: 'direct' | 'relayed';
  /** Packet loss of the worse direction, 0 to 1. */
  loss: number;
  /** Received kbit/s. */
  kbits: number;
  tripMs?: number;
  /** Too weak for video. */
  weak: boolean;
}

/** Time between two samples. */
export const SAMPLE_MS = 2_000;
const BAD_LOSS = 0.1;
const GOOD_LOSS = 0.03;
/** Bandwidth in bits per second below which video is not useful. */
const LEAST_ROOM = 120_000;
/**
 * Number of bad samples in a row that stop video, and of good samples that start it again. The second
 * number doubles each time.
 */
const BAD_SAMPLES = 3;
const GOOD_SAMPLES = 5;
const MOST_PATIENCE = 8;

export class QualityMeter {
  #before: Sample | undefined;
  #bad = 0;
  #good = 0;
  #weak = false;
  #patience = 1;

  /** `pictures`: video is being sent, so that the estimate of the bandwidth is meaningful. */
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

/** An entry of the statistics report. Browsers have different fields. */
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

/** The candidate pair in use. The transport names it; in Firefox, the pair itself has a flag. */
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
