// A module that bench/cross-programs has Lua load: functions that call back, values of the module's own, errors that leave C code.
#include <lauxlib.h>
#include <lua.h>

static __thread int calls;

// sum(f, n): f(1) + ... + f(n).
static int sum(lua_State *state) {
  lua_Number all = 0;
  lua_Integer last = luaL_checkinteger(state, 2);
  for (lua_Integer i = 1; i <= last; ++i) {
    lua_pushvalue(state, 1);
    lua_pushinteger(state, i);
    lua_call(state, 1, 1);
    all += luaL_checknumber(state, -1);
    lua_pop(state, 1);
  }
  ++calls;
  lua_pushnumber(state, all);
  return 1;
}

static int counted(lua_State *state) {
  lua_pushinteger(state, calls);
  return 1;
}

static int fail(lua_State *state) { return luaL_error(state, "from C: %s", luaL_checkstring(state, 1)); }

static const luaL_Reg functions[] = {{"sum", sum}, {"counted", counted}, {"fail", fail}, {NULL, NULL}};

int luaopen_module(lua_State *state) {
  luaL_newlib(state, functions);
  return 1;
}
