import { expect, test } from 'vitest';
import { readCandidate, readTold } from './peer_connection.ts';

test('only a valid ICE candidate is accepted', () => {
  const one = { candidate: 'candidate:1 1 udp 1 192.0.2.1 5000 typ host', sdpMid: '0', sdpMLineIndex: 0 };
  expect(readCandidate(JSON.stringify({ ...one, usernameFragment: 'x', more: {} }))).toEqual(one);
  expect(readCandidate(JSON.stringify({ ...one, sdpMid: 1, sdpMLineIndex: 'a' }))).toEqual({
    candidate: one.candidate,
  });
  for (const text of ['', 'null', '1', '{', '[]', '{"candidate":7}'])
    expect(readCandidate(text)).toBeUndefined();
});

test('the state of the other side consists of four booleans', () => {
  const told = { mic: true, camera: false, screen: false, weak: false };
  expect(readTold(JSON.stringify({ ...told, camera: 'yes', more: 1 }))).toEqual(told);
  for (const data of [new ArrayBuffer(4), 7, '', '{', 'null', `{"mic":${' '.repeat(2_000)}true}`])
    expect(readTold(data)).toBeUndefined();
});
