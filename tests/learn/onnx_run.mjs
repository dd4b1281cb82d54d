// What ONNX Runtime says of rows: node onnx_run.mjs FOLDER MODEL.onnx ROWS.json
// FOLDER holds node_modules with onnxruntime-node or onnxruntime-web. ROWS: a list of rows, null where a value is
// missing. Prints {"target": [value per row], ...}. Exit status 3: no runtime there.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const [folder, modelPath, rowsPath] = process.argv.slice(2);
const require = createRequire(resolve(folder) + '/');
let ort;
for (const name of ['onnxruntime-node', 'onnxruntime-web']) {
  try {
    ort = require(name);
    break;
  } catch {
    // the other one, perhaps
  }
}
if (!ort) process.exit(3);

const rows = JSON.parse(readFileSync(rowsPath, 'utf8'));
const values = Float64Array.from(rows.flat(), (value) => (value === null ? NaN : value));
const session = await ort.InferenceSession.create(new Uint8Array(readFileSync(modelPath)));
const features = new ort.Tensor('float64', values, [rows.length, rows[0].length]);
const found = await session.run({ features });
const told = {};
for (const name of session.outputNames) told[name] = Array.from(found[name].data);
console.log(JSON.stringify(told));
