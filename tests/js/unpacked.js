// Reads one packed block, says what is in it: for the test that packs in Python.

import { readFileSync } from "node:fs";

import { unpack } from "../../pages/shared/pictures/live/numbers.js";

const { meta, arrays } = unpack(new Uint8Array(readFileSync(0)));
const said = Object.entries(arrays).map(([name, { shape, values }]) => [name, { shape, type: values.constructor.name, values: Array.from(values, String) }]);
process.stdout.write(JSON.stringify({ meta, arrays: Object.fromEntries(said) }));
