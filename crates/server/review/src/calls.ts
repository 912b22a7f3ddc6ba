// What the page says through its bridge: calls of the server's tools, and words for the model.

import { Bridge, toParent } from './bridge.ts';
import type { ReviewPage, ToolResult } from './contract.ts';
import { isOwn } from './known.ts';
import { toServer } from './own.ts';

export const bridge = new Bridge(isOwn ? toServer() : toParent());

export async function call(name: string, args: Record<string, unknown>): Promise<ToolResult> {
  return (await bridge.request('tools/call', { name, arguments: args })) as ToolResult;
}

export async function review(args: Record<string, unknown>): Promise<ReviewPage> {
  const result = await call('review', args);
  if (result.isError || !result.structuredContent) throw new Error(said(result));
  return result.structuredContent as unknown as ReviewPage;
}

export function said(result: ToolResult): string {
  const text = result.content?.map((block) => block.text ?? '').join('\n') || 'The server gave no answer.';
  // The code at the end of a refusal is for programs.
  return text.replace(/\n\[[a-z-]+\]\s*$/, '');
}

/** Tells the model what a person did, for its next turn. A client that takes no such word loses nothing. */
export function inform(text: string): void {
  bridge.request('ui/update-model-context', { content: [{ type: 'text', text }] }).catch(() => {});
}
