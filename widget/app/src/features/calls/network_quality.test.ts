import { describe, expect, test } from 'vitest';
import { QualityMeter, type Sample, sampleOf } from './network_quality.ts';

const pair = { type: 'candidate-pair', id: 'P', localCandidateId: 'L', remoteCandidateId: 'R' };
const found = [
  { type: 'transport', id: 'T', selectedCandidatePairId: 'P' },
  { ...pair, availableOutgoingBitrate: 900_000, currentRoundTripTime: 0.04 },
  { type: 'candidate-pair', id: 'other', localCandidateId: 'x', remoteCandidateId: 'y' },
  { type: 'inbound-rtp', id: 'a', packetsReceived: 100, packetsLost: 2, bytesReceived: 10_000 },
  { type: 'inbound-rtp', id: 'v', packetsReceived: 300, packetsLost: 6, bytesReceived: 90_000 },
  { type: 'remote-inbound-rtp', id: 'ra', fractionLost: 0.02 },
  { type: 'remote-inbound-rtp', id: 'rv', fractionLost: 0.2 },
];
const candidate = (id: string, candidateType: string) => ({ type: 'x-candidate', id, candidateType });

describe('a sample', () => {
  test('sums the incoming streams, and has the highest loss that the other side reports', () => {
    const stats = [...found, candidate('L', 'host'), candidate('R', 'prflx')];
    expect(sampleOf(stats, 7)).toEqual({
      at: 7,
      received: 400,
      lost: 8,
      bytes: 100_000,
      lostThere: 0.2,
      relayed: false,
      room: 900_000,
      trip: 0.04,
    });
  });

  test('is relayed if either candidate is', () => {
    for (const [here, there] of [
      ['relay', 'host'],
      ['srflx', 'relay'],
    ] as const) {
      const stats = [...found, candidate('L', here), candidate('R', there)];
      expect(sampleOf(stats, 0).relayed).toBe(true);
    }
  });

  test('finds the candidate pair if the transport does not name it', () => {
    const stats = [{ ...pair, nominated: true, state: 'succeeded' }, candidate('L', 'relay')];
    expect(sampleOf(stats, 0).relayed).toBe(true);
  });

  test('without statistics has only zeros', () => {
    expect(sampleOf([], 3)).toEqual({ at: 3, received: 0, lost: 0, bytes: 0 });
  });
});

describe('the meter', () => {
  /** Each sample is two seconds after the previous one, with `loss` lost packets of 100. */
  function meter() {
    const one = new QualityMeter();
    const total: Sample = { at: 0, received: 0, lost: 0, bytes: 0 };
    return (loss: number, more: Partial<Sample> = {}, pictures = true) => {
      total.at += 2_000;
      total.received += 100 - loss;
      total.lost += loss;
      total.bytes += 25_000;
      return one.take({ ...total, ...more }, pictures);
    };
  }

  test('reports the received bit rate and the loss', () => {
    const take = meter();
    take(0);
    expect(take(4, { relayed: true, trip: 0.05 })).toEqual({
      way: 'relayed',
      loss: 0.04,
      kbits: 100,
      tripMs: 50,
      weak: false,
    });
    expect(take(0, { lostThere: 0.5 }).loss).toBe(0.5);
  });

  test('a single bad sample is no weak network, three in a row are', () => {
    const take = meter();
    const weak = [0, 20, 20, 0, 20, 20, 20].map(loss => take(loss).weak);
    expect(weak).toEqual([false, false, false, false, false, false, true]);
  });

  test('low bandwidth is weak only while video is sent', () => {
    const take = meter();
    expect([1, 2, 3, 4].map(() => take(0, { room: 40_000 }, false).weak)).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect([1, 2, 3].map(() => take(0, { room: 40_000 }).weak)).toEqual([false, false, true]);
  });

  test('video is tried again after five good samples, and the second time after ten', () => {
    const take = meter();
    const until = (weak: boolean, loss: number) => {
      let samples = 0;
      do samples += 1;
      while (take(loss).weak !== weak && samples < 100);
      return samples;
    };
    take(0);
    expect([until(true, 30), until(false, 0), until(true, 30), until(false, 0)]).toEqual([3, 5, 3, 10]);
  });

  test('the lower counters of a new connection give no negative values', () => {
    const take = meter();
    take(0);
    const now = take(0, { received: 0, lost: 0, bytes: 0 });
    expect([now.loss, now.kbits]).toEqual([0, 0]);
  });
});
