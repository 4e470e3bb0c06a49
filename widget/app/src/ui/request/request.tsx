// Renders the state of a request: a skeleton while it loads, an error with a Retry button, or the loaded data.

import type { ComponentChildren } from 'preact';
import { useWording } from '../../app_context.tsx';
import { Skeleton } from '../skeleton/skeleton.tsx';
import { useStyles } from '../styles/use_styles.ts';
import css from './request.css?inline';
import type { Pages } from './use_pages.ts';
import type { Request } from './use_request.ts';

type Shown<T> = Pick<Request<T>, 'data' | 'failed' | 'error' | 'retry'>;

interface RequestProps<T> {
  request: Shown<T>;
  /** Shown until the data is loaded. The default is rows of a list. */
  skeleton?: ComponentChildren;
  /** Shown if the loaded list has no items. */
  empty?: ComponentChildren;
  /** The text of an error. The default is a general text about a failed load. */
  failure?(error: unknown): string;
  children(data: T): ComponentChildren;
}

export function RequestView<T>({
  request,
  skeleton = <Skeleton />,
  empty,
  failure,
  children,
}: RequestProps<T>) {
  const { data, failed, error, retry } = request;
  const problem = failed && <LoadFailed text={failure?.(error)} onRetry={retry} />;
  if (data === undefined) return <>{problem || skeleton}</>;
  const isEmpty = Array.isArray(data) && data.length === 0;
  return (
    <>
      {problem}
      {isEmpty && empty !== undefined ? !failed && empty : children(data)}
    </>
  );
}

interface FailedProps {
  text?: string | undefined;
  onRetry(): void;
}

export function LoadFailed({ text, onRetry }: FailedProps) {
  useStyles(css);
  const words = useWording();
  return (
    <div class="load-failed" role="alert">
      <p dir="auto">{text ?? words.loadFailed}</p>
      <button type="button" class="button" onClick={onRetry}>
        {words.tryAgain}
      </button>
    </div>
  );
}

/** The button below the rows of a list that loads the next page. */
export function NextPage({
  pages: { hasMore, more, loadMore },
  text,
}: {
  pages: Pick<Pages<unknown>, 'hasMore' | 'more' | 'loadMore'>;
  text: string;
}) {
  if (!hasMore) return null;
  if (more === 'failed') return <LoadFailed onRetry={loadMore} />;
  return (
    <button type="button" class="button" aria-disabled={more === 'loading'} onClick={loadMore}>
      {text}
    </button>
  );
}
