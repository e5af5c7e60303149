//# about: ARM: dlopen of a library with thread-local storage of its own, which has ARM code or Thumb code
//# machines: armhf armel
//# except: machine=x86-64
//# matrix: mode=-marm,-mthumb kind=pie,nopie
//# except: machine=armel mode=-mthumb
//# [kind=nopie] cflags: -fno-pie
//# obj: main.o = arm-dlopen.c {mode} -O1
//# obj: plug.o = plug.c -fPIC {mode} -O1
//# link: %shared plug.o -o libplug.so
//# link: %{kind} main.o
//# run: ./out
//# stdout: 42 85
#include <dlfcn.h>
#include <stdio.h>
int main(void){ void *h = dlopen("./libplug.so", RTLD_NOW); if(!h){puts(dlerror());return 1;} int (*f)(int) = (int(*)(int))dlsym(h,"plug"); printf("%d %d\n", f(1), f(2)); return 0; }
//--- plug.c
static __thread int t = 40; __thread int u = 1; int plug(int x){ t += x; u += t; return u; }
