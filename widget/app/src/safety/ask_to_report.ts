// Opens the report of something; the form itself comes when it is opened first.

import type { ReportTarget } from '@kith/client';
import { late } from '../late.tsx';
import type { Surroundings } from '../surroundings.tsx';

const reportPart = late(() => import('./report.tsx'), 'Report');

export function askToReport({ show }: Surroundings, target: ReportTarget, user?: string): void {
  show(reportPart, { target, ...(user !== undefined && { user }) });
}
