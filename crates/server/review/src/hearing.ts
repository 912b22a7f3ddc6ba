// What the page hears from the client: the result of the call that it is shown for, and how the client looks.

import { waits } from './approval.ts';
import { said } from './calls.ts';
import { visible } from './code.ts';
import type { ToolResult } from './contract.ts';
import { byId, el } from './dom.ts';
import { type HostContext, known } from './known.ts';
import { show } from './showing.ts';
import { run, tell } from './status.ts';

export function heard(result: ToolResult): void {
  const content = result.structuredContent ?? {};
  // Some clients hand on the text alone.
  const text = result.isError ? '' : said(result);
  const preview = typeof content.preview === 'string' ? content.preview : text.match(/\bpreview-[0-9a-f]{32}\b/)?.[0];
  const edit =
    typeof content.edit === 'string'
      ? content.edit
      : text.match(/^(?:Success\. |This is )?[Ee]dit ([0-9a-z]+)[.:;]/m)?.[1];
  const servers = Array.isArray(content.diagnostics) ? content.diagnostics : [];
  byId('diagnostics').replaceChildren(
    ...servers.flatMap((server: { diagnostics?: unknown[] }) =>
      (server.diagnostics ?? []).map((found) =>
        el('li', {}, visible(typeof found === 'string' ? found : JSON.stringify(found))),
      ),
    ),
  );
  if (!result.isError && preview !== undefined) run(() => show({ preview }))();
  else if (!result.isError && edit !== undefined) run(() => show({ edit }))();
  else run(() => refused(result, content))();
}

/** Shows what waits for approval, or what an answer says. */
async function refused(result: ToolResult, content: Record<string, unknown>): Promise<void> {
  const name = known.host.toolInfo?.tool?.name;
  if (
    !(await waits(result, name !== undefined && known.input !== undefined ? { name, args: known.input } : undefined))
  ) {
    tell(said(result), result.isError);
    const diff = typeof content.diff === 'string' ? content.diff : '';
    byId('hunks').replaceChildren(...(diff ? [el('pre', { class: 'plain' }, visible(diff))] : []));
  }
}

export function adopt(context: HostContext): void {
  known.host = { ...known.host, ...context };
  document.documentElement.dataset.theme = known.host.theme === 'dark' ? 'dark' : 'light';
}
