//! The one `bindgen!`: the grip's types and traits, generated from the world `host`, which has all of it. Exports are
//! bound interface by interface (`exports::…::GuestIndices`), so that one set of types serves every world. No logic.
#![expect(missing_docs, reason = "generated; `wit/` is the documentation")]

wasmtime::component::bindgen!({
    path: "../wit",
    world: "thetis:grip/host",
    imports: { default: async | trappable },
    exports: { default: async },
});
