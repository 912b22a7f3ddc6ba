// The pictures of the page in docs/review: light and dark, wide and narrow, of a preview in which something is chosen.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open, serve } from './stand.mjs';

const { EMEND_FILES, EMEND_PICTURES } = process.env;

const CART = `//! What a customer wants to buy.

pub struct Cart {
    items: Vec<Item>,
}

impl Cart {
    /// Returns the price of all items.
    pub fn total(&self) -> u32 {
        let mut total = 0;
        for item in &self.items {
            total += item.price;
        }
        total
    }

    pub fn is_empty(&self) -> bool {
        self.items.len() == 0
    }
}
`;
const PATCH = `*** Begin Patch
*** Update File: src/cart.rs
@@
     pub fn total(&self) -> u32 {
-        let mut total = 0;
-        for item in &self.items {
-            total += item.price;
-        }
-        total
+        self.items.iter().map(|item| item.price * item.count).sum()
     }
@@
     pub fn is_empty(&self) -> bool {
-        self.items.len() == 0
+        self.items.is_empty()
     }
*** Add File: src/item.rs
+/// What is bought, and how often.
+pub struct Item {
+    pub price: u32,
+    pub count: u32,
+}
*** End Patch
`;

mkdirSync(EMEND_PICTURES, { recursive: true });
mkdirSync(join(EMEND_FILES, 'src'), { recursive: true });
const server = await serve();
const { page, show, stop } = await open(server);
for (const theme of ['light', 'dark']) {
  for (const [name, width] of Object.entries({ wide: 1100, narrow: 480 })) {
    writeFileSync(join(EMEND_FILES, 'src', 'cart.rs'), CART);
    await page.setViewportSize({ width, height: 400 });
    const { frame } = await show('edit_preview', { tool: 'apply_patch', patch: PATCH }, { theme });
    const button = (label) => frame.getByRole('button', { name: label, exact: true });
    await button('Accept hunk 1').click();
    await button('Reject hunk 2').click();
    if (theme === 'dark' && name === 'wide') await button('Side by side').click();
    await page.mouse.move(0, 0);
    const height = await frame.locator('body').evaluate((body) => body.getBoundingClientRect().height);
    // The frame of the rounds leaves a border around the page, and takes 94 of 100 parts of the window.
    await page.setViewportSize({ width, height: Math.ceil((height + 24) / 0.94) });
    await frame.locator('body').evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    const path = join(EMEND_PICTURES, `${theme}-${name}.png`);
    await page.locator('iframe').screenshot({ path });
    console.log(path);
  }
}
await stop();
server.stop();
console.log('the pictures are made');
