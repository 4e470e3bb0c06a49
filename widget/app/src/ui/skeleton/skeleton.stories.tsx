import type { Stories } from '../../../dev/story.ts';
import { Skeleton } from './skeleton.tsx';

export const stories: Stories = { loading: () => <Skeleton /> };
