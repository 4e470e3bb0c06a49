// Opens the report of something; the form itself comes when it is opened first.

import type { ReportTarget } from '@kith/client';
import type { Surroundings } from '../../app_context.tsx';
import { late } from '../../ui/lazy/lazy.tsx';

const reportPart = late(() => import('./report_form.tsx'), 'Report');

export function askToReport({ show }: Surroundings, target: ReportTarget, user?: string): void {
  show(reportPart, { target, ...(user !== undefined && { user }) });
}
