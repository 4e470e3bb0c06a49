import type { Stories } from '../../../dev/story.ts';
import { Empty } from '../empty_state/empty_state.tsx';
import { LoadFailed, NextPage, RequestView } from './request.tsx';
import type { Request } from './use_request.ts';

const NOTHING: Request<readonly string[]> = {
  data: undefined,
  loading: false,
  failed: false,
  error: undefined,
  retry: () => undefined,
  update: () => undefined,
};

function List({ request }: { request: Request<readonly string[]> }) {
  return (
    <RequestView
      request={request}
      empty={<Empty icon="people" title="Nobody here" hint="Invite somebody." />}
    >
      {names => (
        <ul>
          {names.map(name => (
            <li key={name}>{name}</li>
          ))}
        </ul>
      )}
    </RequestView>
  );
}

export const stories: Stories = {
  loading: () => <List request={{ ...NOTHING, loading: true }} />,
  failed: () => <List request={{ ...NOTHING, failed: true }} />,
  empty: () => <List request={{ ...NOTHING, data: [] }} />,
  loaded: () => <List request={{ ...NOTHING, data: ['Ana', 'Tom'] }} />,
  'loaded, and failed to load again': () => (
    <List request={{ ...NOTHING, data: ['Ana', 'Tom'], failed: true }} />
  ),
  'an error in other words': () => <LoadFailed text="The site is closed." onRetry={() => undefined} />,
  'a next page': () => (
    <NextPage pages={{ hasMore: true, more: 'idle', loadMore: () => undefined }} text="More" />
  ),
  'a next page that failed': () => (
    <NextPage pages={{ hasMore: true, more: 'failed', loadMore: () => undefined }} text="More" />
  ),
};
