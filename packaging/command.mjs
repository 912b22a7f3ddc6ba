// Prints the command that a desktop client runs for an unpacked bundle, by that client's own reading of the manifest.
//
//     node command.mjs BUNDLE FOLDER...

import { readFileSync } from "node:fs";
import { sep } from "node:path";
import { getMcpConfigForManifest } from "@anthropic-ai/mcpb";

const [bundle, ...folders] = process.argv.slice(2);
const manifest = JSON.parse(readFileSync(`${bundle}/manifest.json`, "utf8"));
const options = { manifest, extensionPath: bundle, systemDirs: {}, userConfig: { folders }, pathSeparator: sep };
console.log(JSON.stringify(await getMcpConfigForManifest(options)));
