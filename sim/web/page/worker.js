// One instance of the simulator in one worker: no memory is shared, so the page opens from a disk.
import * as Comlink from "comlink";
import noteg from "noteg-wasm";

let simulator;

const api = {
  async start(module) {
    simulator = await noteg({
      instantiateWasm(imports, receive) {
        WebAssembly.instantiate(module, imports).then((instance) => receive(instance, module));
        return {};
      },
    });
  },
  keep(path, text) { simulator.FS.writeFile(path, text); },
  // The answer as text: the page takes it apart, and shows and saves it as it is.
  ask(question) {
    const text = JSON.stringify(question);
    const length = simulator.lengthBytesUTF8(text) + 1;
    const place = simulator._malloc(length);
    simulator.stringToUTF8(text, place, length);
    const answer = simulator.UTF8ToString(simulator._noteg_answer(place));
    simulator._free(place);
    return answer;
  },
};

Comlink.expose(api);
