// Opens the report form; its code is fetched on first use.

import type { ReportTarget } from '@kith/client';
import type { AppContextValue } from '../../app_context.tsx';
import { lazy } from '../../ui/lazy/lazy.tsx';

const reportPart = lazy(() => import('./report_form.tsx'), 'Report');

export function askToReport({ show }: AppContextValue, target: ReportTarget, user?: string): void {
  show(reportPart, { target, ...(user !== undefined && { user }) });
}
