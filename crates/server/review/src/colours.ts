// Syntax colours: which parts of lines are of which kind. The library's HTML is not used, only its tree, so that a line of a
// file is never anything but text.

import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

const LANGUAGES = {
  bash,
  c,
  cpp,
  csharp,
  css,
  go,
  ini,
  java,
  javascript,
  json,
  python,
  ruby,
  rust,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

const ENDINGS: Record<string, keyof typeof LANGUAGES> = {
  bash: 'bash',
  sh: 'bash',
  zsh: 'bash',
  c: 'c',
  h: 'c',
  cc: 'cpp',
  cpp: 'cpp',
  cxx: 'cpp',
  hpp: 'cpp',
  hh: 'cpp',
  cs: 'csharp',
  css: 'css',
  go: 'go',
  ini: 'ini',
  toml: 'ini',
  cfg: 'ini',
  java: 'java',
  js: 'javascript',
  mjs: 'javascript',
  cjs: 'javascript',
  jsx: 'javascript',
  json: 'json',
  py: 'python',
  pyi: 'python',
  rb: 'ruby',
  rs: 'rust',
  ts: 'typescript',
  mts: 'typescript',
  tsx: 'typescript',
  html: 'xml',
  htm: 'xml',
  xml: 'xml',
  svg: 'xml',
  vue: 'xml',
  yaml: 'yaml',
  yml: 'yaml',
};

/** The longest text that is coloured at once. */
const LONGEST = 60_000;

/** A part of a line: from, to, and what it is. */
export type Colour = [number, number, string];

interface Node {
  scope?: string;
  children: (Node | string)[];
}

export function languageOf(path: string): string | undefined {
  const ending = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  return Object.hasOwn(ENDINGS, ending) ? ENDINGS[ending] : undefined;
}

/** Returns the colours of each of these lines. */
export function colours(lines: string[], language: string | undefined): Colour[][] {
  const found: Colour[][] = lines.map(() => []);
  const text = lines.join('\n');
  if (language === undefined || text.length > LONGEST) return found;
  const result = hljs.highlight(text, { language, ignoreIllegals: true }) as unknown as {
    _emitter: { rootNode: Node };
  };
  let line = 0;
  let column = 0;
  const walk = (node: Node | string, scope: string | undefined): void => {
    if (typeof node !== 'string') {
      const own = node.scope?.split('.')[0] ?? scope;
      for (const child of node.children) walk(child, own);
      return;
    }
    for (const [at, part] of node.split('\n').entries()) {
      if (at > 0) {
        line += 1;
        column = 0;
      }
      if (scope !== undefined && part.length > 0) found[line]?.push([column, column + part.length, scope]);
      column += part.length;
    }
  };
  walk(result._emitter.rootNode, undefined);
  return found;
}
