// Makes review.html, the one file of the page, from src/. With --check it says whether the committed one is what the sources
// make; with --tests it makes the unit tests instead.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const LARGEST = 150 * 1024;

if (process.argv.includes('--tests')) {
  const options = { bundle: true, platform: 'node', format: 'esm', packages: 'external' };
  await build({ ...options, entryPoints: [here('tests/all.ts')], outfile: here('out/tests.mjs') });
  process.exit(0);
}

const made = await build({
  entryPoints: [here('src/main.ts')],
  bundle: true,
  minify: true,
  write: false,
  format: 'iife',
  target: 'es2022',
  charset: 'ascii',
  legalComments: 'none',
});
// What ends the element cannot stand in it, and no source of ours or of the libraries needs it but in a string.
const script = made.outputFiles[0].text.trim().replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
const style = await build({ entryPoints: [here('src/page.css')], minify: true, write: false });
const licences =
  '<!-- Made by `cargo xtask review` from crates/server/review. With diff (BSD-3-Clause) and highlight.js (BSD-3-Clause); see NOTICE.md there. -->';
const page = readFileSync(here('src/page.html'), 'utf8')
  .replace('<html', () => `${licences}\n<html`)
  .replace('/*STYLE*/', () => style.outputFiles[0].text.trim())
  .replace('/*SCRIPT*/', () => script);
if (page.length > LARGEST) throw new Error(`the page has ${page.length} bytes, and may have ${LARGEST}`);
if (process.argv.includes('--check')) {
  if (readFileSync(here('review.html'), 'utf8') !== page) {
    console.error('review.html is not what the sources make: run cargo xtask review');
    process.exit(1);
  }
} else {
  writeFileSync(here('review.html'), page);
}
console.log(`review.html: ${page.length} bytes`);
