import { useState } from 'preact/hooks';
import type { Stories } from '../../../dev/story.ts';
import { SearchField } from './search_field.tsx';

function Field({ begin }: { begin: string }) {
  const [value, setValue] = useState(begin);
  return <SearchField label="Search people" value={value} onChange={setValue} />;
}

export const stories: Stories = {
  empty: () => <Field begin="" />,
  'with a query': () => <Field begin="ana" />,
};
